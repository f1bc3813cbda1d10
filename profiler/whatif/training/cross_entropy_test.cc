// SPDX-License-Identifier: Apache-2.0
// A loss of 128 rows over a vocabulary of 64, written down by hand:
//
//   hidden [128, 16] ─ mm ─▶ logits [128, 64] ─ log_softmax, nll ─▶ loss
//
// What each part takes the author knows; tests/whatif_accuracy has real programs, really changed.
#include "profiler/whatif/training/cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using ::testing::HasSubstr;

constexpr uint64_t kLogits = 128 * 64 * 4, kHidden = 128 * 16 * 4, kWeight = 64 * 16 * 4;

struct Classifier {
  // `elsewhere`: the logits are used for an accuracy too.
  explicit Classifier(bool elsewhere = false) {
    Step bare;
    bare.length = 300;
    bare.shapes.push_back({});
    bare.backward.push_back({100, 200});
    bare.optimizer.push_back({200, 300});
    Inserter into(bare, {});
    into.SetElements(6);
    const auto block = [&](uint64_t bytes, Position begin, Position end, Category category) {
      StepBlock made;
      made.id = static_cast<model::BlockId>(into.step().blocks.size());
      made.requested = bytes;
      made.begin = begin;
      made.end = end;
      made.category = category;
      return into.AddBlock(made);
    };
    const uint32_t weight = block(kWeight, kBefore, kForever, Category::kParameter);
    const uint32_t hidden = block(kHidden, 5, 145, Category::kActivation);
    const uint32_t logits = block(kLogits, 12, 40, Category::kTemporaryForward);
    const uint32_t logarithms = block(kLogits, 22, 125, Category::kActivation);
    const uint32_t loss = block(4, 28, 210, Category::kTemporaryForward);
    const uint32_t labels = block(128 * 8, 2, 210, Category::kInput);
    const uint32_t mm = into.Begin("aten::mm", model::kNone, model::kNone, 10,
                                   {into.Matrix(hidden, 128, 16), into.Matrix(weight, 16, 64, true)});
    into.End(mm, 15, {into.Matrix(logits, 128, 64)});
    const uint32_t entropy = into.Begin("aten::cross_entropy_loss", model::kNone, model::kNone, 20,
                                        {into.Matrix(logits, 128, 64), into.Matrix(labels, 128, 1)});
    const uint32_t softmax =
        into.Begin("aten::_log_softmax", entropy, model::kNone, 21, {into.Matrix(logits, 128, 64)});
    into.End(softmax, 24, {into.Matrix(logarithms, 128, 64)});
    Operand scalar = into.Matrix(loss, 1, 1);
    scalar.shape = scalar.strides = into.ShapeOf({});
    const uint32_t nll =
        into.Begin("aten::nll_loss_forward", entropy, model::kNone, 25, {into.Matrix(logarithms, 128, 64)});
    into.End(nll, 29, {scalar});
    into.End(entropy, 30, {scalar});
    if (elsewhere) {
      const uint32_t best =
          into.Begin("aten::argmax", model::kNone, model::kNone, 32, {into.Matrix(logits, 128, 64)});
      into.End(best, 35, {});
    }
    const auto node = [&](uint32_t op, Position made, Position begin, uint32_t kept) {
      const uint32_t index = into.AddNode(op, made);
      into.step().nodes[index].begin = begin;
      into.step().nodes[index].end = begin + 19;
      into.Save(kept, index, made);
      into.step().saved.back().released = begin + 15;
      const uint32_t run = into.Begin("Backward", model::kNone, index, begin + 1, {});
      into.End(run, begin + 14, {});
      return run;
    };
    const uint32_t second = node(softmax, 22, 110, logarithms), first = node(mm, 11, 130, hidden);
    const uint32_t of_logits = block(kLogits, 112, 143, Category::kTemporaryBackward);
    const uint32_t of_weight = block(kWeight, 133, 250, Category::kGradient);
    const uint32_t of_hidden = block(kHidden, 136, 180, Category::kTemporaryBackward);
    into.step().blocks[of_logits].op = second;
    into.step().blocks[of_weight].op = into.step().blocks[of_hidden].op = first;
    into.step().blocks[logits].op = mm;
    step = std::move(into).Finish();
  }

  [[nodiscard]] Result<Step> With(const char* value) const {
    return *CrossEntropyLever().Rewrite(step, value);
  }

  Step step;
};

uint64_t LiveAt(const Step& step, Position at) {
  uint64_t bytes = 0;
  for (const StepBlock& block : step.blocks)
    if (block.begin <= at && at < block.end) bytes += block.requested;
  return bytes;
}

uint64_t Most(const Step& step) {
  uint64_t most = 0;
  for (const StepBlock& block : step.blocks) most = std::max(most, LiveAt(step, block.begin));
  return most;
}

TEST(CrossEntropyTest, ALinearLayerBeforeTheLossIsFound) {
  const LinearLoss loss = FindLinearLoss(Classifier().step).value();
  EXPECT_EQ(loss.rows, 128);
  EXPECT_EQ(loss.width, 16);
  EXPECT_EQ(loss.vocabulary, 64);
  EXPECT_EQ(loss.element, 4u);
  EXPECT_EQ(loss.gradients.size(), 2u);
}

TEST(CrossEntropyTest, LogitsAreNeverThereAsAWhole) {
  constexpr uint64_t kLabels = 128 * 8, kLoss = 4;
  const Classifier network;
  // In backward: weight, hidden, logarithms and the gradient of the logits.
  EXPECT_EQ(Most(network.step), kWeight + kHidden + 2 * kLogits + kLabels + kLoss);
  const Step changed = network.With("chunked:8").value();
  // In forward: weight, hidden and their gradients, a part's logits and their gradient; its labels and which
  // of them count, beside those of the part before, which variables have; and the sum of losses.
  EXPECT_EQ(Most(changed), 2 * kWeight + 2 * kHidden + 2 * kLogits / 8 + 2 * 16 * (8 + 1) + kLoss + kLabels);
  // Between forward and backward neither hidden nor logits.
  EXPECT_EQ(LiveAt(changed, 99), 2 * kWeight + kHidden + kLabels + kLoss);
}

TEST(CrossEntropyTest, TheGradientOfWhatGoesInIsAskedForBeforeThatOfTheWeight) {
  const Step changed = Classifier().With("chunked:8").value();
  Position hidden = kForever, weight = kForever;
  const LinearLoss loss = FindLinearLoss(Classifier().step).value();
  for (const uint32_t gradient : loss.gradients) {
    const StepBlock& block = changed.blocks[gradient];
    (block.requested == kHidden ? hidden : weight) = block.begin;
  }
  EXPECT_LT(hidden, weight);
}

// Else the gradient of a norm behind it would not grow with the batch.
TEST(CrossEntropyTest, TheBatchIsFollowedFromWhatGoesInToItsGradient) {
  Classifier network;
  const LinearLoss loss = FindLinearLoss(network.step).value();
  const Step changed = WithLossInParts(network.step, loss, 16);
  const Op& op = changed.ops[loss.loss];
  ASSERT_EQ(op.input_count, 1u);
  const Operand &hidden = InputsOf(changed, op).front(), &gradient = OutputsOf(changed, op).back();
  EXPECT_EQ(hidden.block, loss.hidden);
  EXPECT_NE(gradient.block, loss.hidden);
  EXPECT_EQ(changed.blocks[gradient.block].requested, kHidden);
  EXPECT_EQ(gradient.shape, hidden.shape);
  EXPECT_EQ(OutputsOf(changed, op).size(), OutputsOf(network.step, network.step.ops[loss.loss]).size() + 1);
}

// The sizes that a part asks for before its logits go, in the order of tests/whatif_accuracy/chunked_loss.py.
TEST(CrossEntropyTest, APartAsksForWhatItsLossTakesOneAfterTheOther) {
  const Step changed = Classifier().With("chunked:2").value();
  const Op& loss = changed.ops[FindLinearLoss(Classifier().step).value().loss];
  std::vector<std::pair<Position, uint64_t>> made;
  for (const StepBlock& block : changed.blocks) {
    if (loss.begin < block.begin && block.begin < loss.end && block.requested != 0)
      made.emplace_back(block.begin, block.requested);
  }
  std::sort(made.begin(), made.end());
  std::vector<uint64_t> sizes;
  for (const auto& [at, bytes] : made) sizes.push_back(bytes);
  constexpr uint64_t kRows = 64, kEach = kRows * 4;
  const std::vector<uint64_t> part = {kLogits / 2, kLogits / 2, kRows * 8, kRows,  // labels, which count
                                      kEach,       kEach,       kEach,     4,
                                      kEach};  // their loss, its gradient
  std::vector<uint64_t> expected = {kHidden, kWeight, 4};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), part.begin(), part.end());
  for (const uint64_t last :
       {uint64_t{128}, uint64_t{8}, uint64_t{128 * 8}, uint64_t{4}})  // their number; the loss
    expected.push_back(last);
  EXPECT_EQ(sizes, expected);
}

// As a model does whose first and last weight are one: the engine adds what the embedding hands out.
TEST(CrossEntropyTest, AGradientOfATiedWeightIsAddedToWhereItLies) {
  Classifier network;
  const LinearLoss loss = FindLinearLoss(network.step).value();
  Step step = network.step;
  step.blocks[loss.gradients[0]].end = 165;
  Inserter into(step, {});
  StepBlock made;
  made.id = static_cast<model::BlockId>(step.blocks.size());
  made.requested = kWeight;
  made.category = Category::kGradient;
  made.begin = 158, made.end = 166;
  const uint32_t second = into.AddBlock(made);
  made.begin = 162, made.end = 250, made.accumulated = 168, ++made.id;
  const uint32_t sum = into.AddBlock(made);
  const uint32_t op = into.Begin("aten::add", model::kNone, loss.nodes[0], 160,
                                 {into.Matrix(loss.gradients[0], 64, 16), into.Matrix(second, 64, 16)});
  into.End(op, 164, {into.Matrix(sum, 64, 16)});
  step = std::move(into).Finish();
  const Step changed = CrossEntropyLever().Rewrite(step, "chunked:8")->value();
  EXPECT_EQ(changed.blocks[loss.gradients[0]].requested, 0u);
  EXPECT_LT(changed.blocks[sum].begin, step.ForwardEnd());
  EXPECT_EQ(changed.blocks[sum].end, 250);
}

// Labels before they were shifted, and those that the loss is given: what had them has returned.
TEST(CrossEntropyTest, OfTheOldLossNothingIsKept) {
  Classifier network;
  const LinearLoss loss = FindLinearLoss(network.step).value();
  Inserter into(network.step, {});
  StepBlock made;
  made.id = static_cast<model::BlockId>(network.step.blocks.size());
  made.requested = 129 * 8;
  made.begin = 16, made.end = 31;
  const uint32_t padded = into.AddBlock(made);
  made.requested = 128 * 8;
  made.begin = 18, made.end = 126, ++made.id;
  const uint32_t shifted = into.AddBlock(made);
  const uint32_t copy = into.Begin("aten::copy_", model::kNone, model::kNone, 18.5,
                                   {into.Matrix(shifted, 128, 1), into.Matrix(padded, 129, 1)});
  into.End(copy, 19, {into.Matrix(shifted, 128, 1)});
  into.Save(shifted, loss.nodes[0], 26);
  const Step changed = CrossEntropyLever().Rewrite(std::move(into).Finish(), "chunked:8")->value();
  EXPECT_NEAR(changed.blocks[padded].end, 19, 1e-3);
  EXPECT_NEAR(changed.blocks[shifted].end, 30, 1e-3);
}

TEST(CrossEntropyTest, LogitsThatALeverConvertedAreNotThereEither) {
  Classifier network;
  StepBlock widened = CopyOf(network.step, OutputsOf(network.step, network.step.ops[0])[0].block);
  widened.begin = 18;
  widened.end = 125;
  network.step.blocks.push_back(widened);
  ASSERT_EQ(widened.requested, kLogits);
  EXPECT_EQ(Most(network.With("chunked:8").value()), Most(Classifier().With("chunked:8").value()));
}

TEST(CrossEntropyTest, FusedHasPartsAsLigerHasThem) {
  // The vocabulary is 4 times as wide as the rows: 4 parts of 32.
  const Classifier network;
  EXPECT_EQ(Most(network.With("fused").value()), Most(network.With("chunked:4").value()));
  EXPECT_NE(Most(network.With("fused").value()), Most(network.With("chunked:8").value()));
}

TEST(CrossEntropyTest, WhatIsNoLinearLossIsRefusedWithAReason) {
  EXPECT_THAT(Classifier(true).With("fused").error().sentence, HasSubstr("for something else too"));
  for (const char* value : {"", "chunked", "chunked:1", "chunked:8x", "whole"})
    EXPECT_THAT(Classifier().With(value).error().sentence, HasSubstr("chunked:8")) << value;
  Classifier without;
  for (Op& op : without.step.ops) op.name = without.step.ops.back().name;
  EXPECT_THAT(without.With("fused").error().sentence, HasSubstr("no cross-entropy"));
}

}  // namespace
}  // namespace vramscope::whatif
