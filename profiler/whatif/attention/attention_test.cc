// SPDX-License-Identifier: Apache-2.0
// Attention in steps that are written down by hand. Sizes of kernels are those that PyTorch 2.15 asked for on
// the simulated A100; tests/whatif_accuracy has real programs, really changed.
#include "profiler/whatif/attention/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/testing/attention_step.h"

namespace vramscope::whatif {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Bytes of the step's blocks that are alive at that moment.
uint64_t LiveAt(const Step& step, Position at) {
  uint64_t bytes = 0;
  for (const StepBlock& block : step.blocks)
    if (block.begin <= at && at < block.end) bytes += block.requested;
  return bytes;
}

uint64_t MostWithin(const Step& step, Position from, Position to) {
  uint64_t most = 0;
  for (const StepBlock& block : step.blocks)
    if (block.begin > from && block.begin < to) most = std::max(most, LiveAt(step, block.begin));
  return most;
}

std::string WhyNot(Network::Kind kind, const char* kernel) {
  const Result<Step> changed = Network(kind).With(kernel);
  return changed.ok() ? "" : changed.error().sentence;
}

TEST(AttentionTest, ProductsAroundASoftmaxAreAttention) {
  const Network network(Network::Kind::kProducts);
  const std::vector<AttentionCall> calls = AttentionCalls(network.step);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_TRUE(calls[0].written_out);
  EXPECT_EQ(calls[0].rows, 64);
  EXPECT_EQ(calls[0].width, 32);
  EXPECT_EQ(calls[0].element, 4u);
  EXPECT_THAT(calls[0].gradients, SizeIs(3));
  EXPECT_THAT(calls[0].masks, IsEmpty());
  EXPECT_EQ(calls[0].why_not, "");
}

TEST(AttentionTest, TheEfficientKernelKeepsANumberForEachRow) {
  const Network network(Network::Kind::kProducts);
  const Step changed = network.With("efficient").value();
  constexpr uint64_t kSums = 2 * 4 * 64 * 4, kSeeds = 8 + 8;
  // Between forward and backward: queries, keys, values, output and sums, and not the weights.
  EXPECT_EQ(LiveAt(network.step, 99), 3 * kQuery + kScores);
  EXPECT_EQ(LiveAt(changed, 99), 4 * kQuery + kSums + kSeeds);
  // In backward three gradients beside them, the sums of rows, and tiles of the queries' gradient.
  constexpr uint64_t kTiles = 2 * 4 * (64 * 64 + 4) * 4;
  EXPECT_EQ(MostWithin(changed, 110, kNodesEnd), 7 * kQuery + 2 * kSums + kSeeds + kTiles);
  EXPECT_EQ(LiveAt(changed, kNodesEnd), 3 * kQuery);
}

TEST(AttentionTest, FlashNeeds16Bits) {
  EXPECT_THAT(WhyNot(Network::Kind::kProducts, "flash"), HasSubstr("--precision"));
  Network network(Network::Kind::kProducts);
  for (StepBlock& block : network.step.blocks) block.requested /= 2;
  const Step changed = network.With("flash").value();
  EXPECT_EQ(LiveAt(changed, 99), 4 * kQuery / 2 + 2 * 4 * 64 * 4 + 16 + 8);
}

// Keys and values of half as many heads: backward makes gradients for each head of queries, and adds them up.
TEST(AttentionTest, HeadsThatShareKeysAndValuesGetAGradientEachFirst) {
  Network network(Network::Kind::kShared);
  EXPECT_THAT(network.With("math").error().sentence, HasSubstr("share"));
  for (StepBlock& block : network.step.blocks) block.requested /= 2;
  const Step changed = network.With("flash").value();
  constexpr uint64_t kSmallest = 2 * 4 * 64 * 4;  // sums of rows
  constexpr uint64_t kGradients = kQuery / 2 + 2 * (kQuery / 4), kSpread = 2 * (kQuery / 2);
  constexpr uint64_t kWork = 2 * 4 * 128 * 4 * (1 + 32), kByRows = kQuery / 2;  // a copy of the result
  const uint64_t kept = LiveAt(changed, 99);
  EXPECT_EQ(kept, 2 * kQuery / 2 + 2 * (kQuery / 4) + kSmallest + 16 + 8);
  EXPECT_EQ(MostWithin(changed, 110, kNodesEnd), kept + kByRows + kGradients + kSpread + kWork);
}

// What is given is float32, and what comes out half of it: autocast, which brings flash attention with it.
TEST(AttentionTest, UnderAutocastItIsFlashAttentionAlready) {
  Network network(Network::Kind::kEfficient);
  network.step.blocks[network.output].requested /= 2;
  const Result<Step> same = network.With("flash");
  ASSERT_TRUE(same.ok()) << same.error().sentence;
  EXPECT_EQ(LiveAt(*same, 99), LiveAt(network.step, 99));
  EXPECT_THAT(network.With("math").error().sentence, HasSubstr("autocast converts"));
}

TEST(AttentionTest, WhatCannotBeExchangedIsRefusedWithAReason) {
  EXPECT_THAT(WhyNot(Network::Kind::kTrainedMask, "efficient"), HasSubstr("is trained"));
  EXPECT_THAT(WhyNot(Network::Kind::kProducts, "math"), HasSubstr("already"));
  EXPECT_THAT(WhyNot(Network::Kind::kEfficient, "efficient"), HasSubstr("already"));
  EXPECT_THAT(WhyNot(Network::Kind::kProducts, "quick"), HasSubstr("flash, efficient or math"));
  Network masked(Network::Kind::kMasked);
  ASSERT_TRUE(masked.With("efficient").ok());
  for (StepBlock& block : masked.step.blocks) block.requested /= 2;
  EXPECT_THAT(masked.With("flash").error().sentence, HasSubstr("is_causal=True"));
}

// A second call with other operands; `kernel`: what it calls.
Step WithAnother(const Network& network, bool masked, const char* kernel) {
  const std::span<const Operand> given = InputsOf(network.step, network.step.ops[0]);
  std::vector<Operand> operands(given.begin(), given.end());
  if (masked) operands.push_back(operands.front()), operands.back().argument = 3;
  Inserter into(network.step, {});
  const uint32_t op =
      into.Begin("aten::scaled_dot_product_attention", model::kNone, model::kNone, 50, operands);
  into.End(into.Begin(kernel, op, model::kNone, 51, {}), 52, {});
  into.End(op, 59, {OutputsOf(network.step, network.step.ops[0])[0]});
  return std::move(into).Finish();
}

// sdpa_kernel() around the model changes all of them.
TEST(AttentionTest, OneCallThatCannotBeChangedRefusesAll) {
  Network network(Network::Kind::kEfficient);
  EXPECT_THAT(
      (*AttentionLever().Rewrite(WithAnother(network, false, "aten::clone"), "math")).error().sentence,
      HasSubstr("not all calls of attention can be predicted: its kernel is none of"));
  for (StepBlock& block : network.step.blocks) block.requested /= 2;
  ASSERT_TRUE(network.With("flash").ok());
  const Step masked = WithAnother(network, true, "aten::_efficient_attention_forward");
  EXPECT_THAT((*AttentionLever().Rewrite(masked, "flash")).error().sentence,
              HasSubstr("not all calls of attention can be predicted: a mask is added"));
}

TEST(AttentionTest, ProductsKeepTheWeightsOfEachRow) {
  Network network(Network::Kind::kEfficient);
  network.step.torch_version = "2.6.0";  // cuBLAS has a workspace that stays
  const Step changed = network.With("math").value();
  // Scaled queries and keys, values and weights; of what the first were made of nothing.
  EXPECT_EQ(LiveAt(changed, 99), 3 * kQuery + kScores);
  // Forward's most: what is given, scaled queries and keys, scores and weights, which are -inf, which rows
  // are so as a whole, and the zero that these get.
  constexpr uint64_t kMost = 5 * kQuery + 2 * kScores + kScores / 4 + 2 * 4 * 64 + 4;
  EXPECT_EQ(MostWithin(changed, 10, 30), kMost);
  // What hides later columns is made for the call and added in place.
  for (Op& op : network.step.ops) op.sixth = network.step.NameOf(op) == "aten::scaled_dot_product_attention";
  EXPECT_EQ(MostWithin(network.With("math").value(), 10, 30), kMost + 64 * 64 * 4);
  EXPECT_EQ(LiveAt(network.With("math").value(), 99), 3 * kQuery + kScores);
}

// F.scaled_dot_product_attention makes one of floats of it, whatever the kernel; products add it in place.
TEST(AttentionTest, AMaskOfBoolsBecomesOneToAddUntilTheCallReturns) {
  Network network(Network::Kind::kEfficient);
  const auto most = [&] { return MostWithin(network.With("math").value(), 10, 39); };
  const uint64_t without = most();
  Step& step = network.step;
  Op& call = step.ops[0];
  std::vector<Operand> given(step.operands.begin() + call.first_input,
                             step.operands.begin() + call.first_input + call.input_count);
  Operand mask = given[0];
  mask.argument = 3;
  mask.dtype = 11;  // at::kBool
  mask.shape = static_cast<uint32_t>(step.shapes.size());
  step.shapes.push_back({static_cast<uint32_t>(step.dims.size()), 4, true});
  step.dims.insert(step.dims.end(), {2, 1, 64, 64});
  StepBlock bools;
  bools.requested = 2 * 64 * 64;
  bools.begin = 5, bools.end = 60;
  mask.block = static_cast<uint32_t>(step.blocks.size());
  step.blocks.push_back(bools);
  given.push_back(mask);
  call.first_input = static_cast<uint32_t>(step.operands.size()), call.input_count = 4;
  step.operands.insert(step.operands.end(), given.begin(), given.end());
  EXPECT_EQ(most(), without + bools.requested + 2 * 64 * 64 * 4);
}

// As after view(batch, rows, heads, width).transpose(1, 2): samples and heads are one dimension in a copy
// alone.
TEST(AttentionTest, ProductsCopyWhatIsNotInTheOrderOfHeads) {
  Network network(Network::Kind::kEfficient);
  const auto most = [&] { return MostWithin(network.With("math").value(), 10, 30); };
  const uint64_t ordered = most();
  const uint32_t first = network.step.ops[0].first_input;
  const auto lie_as_rows = [&](uint32_t argument) {
    int64_t* const strides =
        network.step.dims.data() + network.step.shapes[network.step.operands[first + argument].strides].first;
    strides[1] = 32, strides[2] = 4 * 32;
  };
  lie_as_rows(2);  // values: their copy is kept, not they themselves
  EXPECT_EQ(most(), ordered + kQuery);
  EXPECT_EQ(LiveAt(network.With("math").value(), 99), 3 * kQuery + kScores);
  lie_as_rows(0);
  EXPECT_EQ(most(), ordered + 2 * kQuery);
}

// Products work with a copy of the gradient that they are given, in the order of heads; a kernel with itself.
TEST(AttentionTest, TheGradientThatIsGivenGoesWhenItIsCopied) {
  const auto end_of_given = [](Network::Kind kind, const char* kernel) {
    Network network(kind);
    StepBlock given;
    given.requested = kQuery;
    given.begin = 105, given.end = 120;
    network.step.blocks.push_back(given);
    return network.With(kernel)->blocks[network.step.blocks.size() - 1].end;
  };
  EXPECT_LT(end_of_given(Network::Kind::kEfficient, "math"), 112);
  EXPECT_NEAR(end_of_given(Network::Kind::kProducts, "efficient"), kNodesEnd, 1e-3);
}

// In 16 bits the gradient is converted where it lies, and copied only then, if it must be: samples and heads
// are one dimension.
TEST(AttentionTest, TheGradientIsCopiedWhereItIsNotInTheOrderOfHeads) {
  const auto made_first = [](bool low, std::vector<int64_t> strides) {
    Network network(Network::Kind::kEfficient);
    if (low)
      for (StepBlock& block : network.step.blocks) block.requested /= 2;
    Step& step = network.step;
    Op& backward =
        *std::find_if(step.ops.begin(), step.ops.end(), [](const Op& op) { return op.node != model::kNone; });
    step.nodes[backward.node].name = backward.name;
    Operand given = step.operands[step.ops[0].first_input];
    given.strides = static_cast<uint32_t>(step.shapes.size());
    step.shapes.push_back({static_cast<uint32_t>(step.dims.size()), 4, true});
    step.dims.insert(step.dims.end(), strides.begin(), strides.end());
    backward.first_input = static_cast<uint32_t>(step.operands.size()), backward.input_count = 1;
    step.operands.push_back(given);
    const Step changed = network.With("math").value();
    // Until the product that makes the gradient of the weights.
    Position scores = kForever;
    for (const StepBlock& block : changed.blocks)
      if (block.begin > 110 && block.requested == kScores) scores = std::min(scores, block.begin);
    return std::count_if(changed.blocks.begin(), changed.blocks.end(), [&](const StepBlock& block) {
      return block.begin > 110 && block.begin < scores && block.requested == kQuery;
    });
  };
  const std::vector<int64_t> heads_first = {4 * 64 * 32, 64 * 32, 32, 1};
  const std::vector<int64_t> rows_first = {64 * 4 * 32, 32, 4 * 32, 1};
  // One of each is the gradient of the values.
  EXPECT_EQ(made_first(false, heads_first), 1);
  EXPECT_EQ(made_first(false, rows_first), 2);
  EXPECT_EQ(made_first(true, heads_first), 2);
  EXPECT_EQ(made_first(true, rows_first), 3);
}

// --precision had flash attention in mind, whose result is copied where heads come beside each other.
TEST(AttentionTest, WhatPrecisionCopiedOfFlashAttentionsResultIsTakenBack) {
  Network network(Network::Kind::kEfficient);
  for (StepBlock& block : network.step.blocks) block.requested /= 2;
  StepBlock copy = CopyOf(network.step, network.output);
  copy.begin = 45, copy.end = 60;
  network.step.blocks[network.output].replaced = copy.begin;
  const size_t place = network.step.blocks.size();
  network.step.blocks.push_back(copy);
  const Step products = network.With("math").value(), flash = network.With("flash").value();
  EXPECT_GE(products.blocks[network.output].end, copy.end);
  EXPECT_EQ(products.blocks[place].requested, 0u);
  EXPECT_EQ(flash.blocks[place].requested, kQuery / 2);
}

// A norm of values computes in float32 and returns what it converted, under the name of that.
TEST(AttentionTest, OfAValueThatPrecisionConvertedTheCopyIsKept) {
  Network network(Network::Kind::kEfficient);
  for (StepBlock& block : network.step.blocks) block.requested /= 2;
  const auto copy = static_cast<uint32_t>(network.step.blocks.size());
  StepBlock converted = network.step.blocks[network.value];
  converted.begin = 6, converted.copy_of = network.value;
  network.step.blocks.push_back(converted);
  for (Saved& saved : network.step.saved)
    if (saved.block == network.value) saved.block = copy;
  network.step.blocks[network.value].requested = kQuery;
  network.step.blocks[network.value].end = 7;
  const Step changed = network.With("flash").value();
  EXPECT_EQ(changed.blocks[network.value].end, 7);
  EXPECT_GT(changed.blocks[copy].end, 110);
  EXPECT_LE(changed.blocks[copy].end, kNodesEnd);
}

TEST(AttentionTest, DropoutIsSeenByItsSeedsAndKeepsWhatItDrew) {
  const Network network(Network::Kind::kDropout);
  EXPECT_TRUE(AttentionCalls(network.step).front().dropout);
  EXPECT_FALSE(AttentionCalls(Network(Network::Kind::kEfficient).step).front().dropout);
  // Weights before and behind it, and a byte for each of them.
  EXPECT_EQ(LiveAt(network.With("math").value(), 99), 3 * kQuery + 2 * kScores + kScores / 4);
}

// Weights in 16 bits are what the call could return: those behind dropout.
TEST(AttentionTest, In16BitsWeightsAreConvertedBehindDropout) {
  Network network(Network::Kind::kDropout);
  for (StepBlock& block : network.step.blocks) block.requested /= 2;
  const Step changed = network.With("math").value();
  Position dropped = kBefore;
  for (const StepBlock& block : changed.blocks)
    if (block.begin < 39 && block.requested == kScores) dropped = std::max(dropped, block.begin);
  // They, and the output in float32, which is as large.
  static_assert(kScores / 2 == kQuery);
  EXPECT_EQ(std::count_if(changed.blocks.begin(), changed.blocks.end(),
                          [&](const StepBlock& block) {
                            return dropped < block.begin && block.begin < 39 && block.requested == kQuery;
                          }),
            2);
}

}  // namespace
}  // namespace vramscope::whatif
