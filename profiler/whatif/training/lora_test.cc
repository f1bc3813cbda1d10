// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/lora.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/loop.h"
#include "profiler/whatif/training/lora_gradients.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// The loop's linear layer as if its input were [2, 4, 64], with these distances.
class GapsTest : public testing::Test {
 protected:
  GapsTest() : step_(loop_.Read()), linears_(LinearCalls(step_, "")) {}

  Step With(const std::vector<int64_t>& strides) {
    LinearCall& linear = linears_.at(0);
    linear.given.shape = linear.made.shape = linear.made.strides = Shape({2, 4, 64});
    linear.given.strides = Shape(strides);
    linear.flat = false;
    return WithLora(step_, linears_, {}, 2);
  }
  uint32_t Shape(const std::vector<int64_t>& dims) {
    step_.shapes.push_back({static_cast<uint32_t>(step_.dims.size()), 3, true});
    step_.dims.insert(step_.dims.end(), dims.begin(), dims.end());
    return static_cast<uint32_t>(step_.shapes.size() - 1);
  }
  // Blocks that were put in, of the batch's size, which a node keeps.
  [[nodiscard]] std::vector<StepBlock> KeptCopies(const Step& changed) const {
    std::vector<StepBlock> copies;
    for (uint32_t i = 0; i < changed.blocks.size(); ++i) {
      const StepBlock& block = changed.blocks[i];
      const bool kept = std::any_of(changed.saved.begin(), changed.saved.end(),
                                    [&](const Saved& saved) { return saved.block == i; });
      if (block.id == kNone && kept && block.requested == kBatchBytes) copies.push_back(block);
    }
    return copies;
  }

  Loop loop_;
  Step step_;
  std::vector<LinearCall> linears_;
};

// x.flatten(2).transpose(1, 2), as in networks of convolutions and attention.
TEST_F(GapsTest, AnInputThatLiesWithGapsIsCopiedForItsProductAndTheCopyKept) {
  const Step changed = With({256, 1, 4});
  const std::vector<StepBlock> copies = KeptCopies(changed);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_GT(copies[0].begin, kBefore);
  EXPECT_GT(copies[0].end, changed.backward.front().begin) << "until the gradient of the matrix is computed";
  EXPECT_LT(copies[0].end, changed.backward.front().end);
}

// def forward(self, x): return self.base(x) + self.up(self.down(x))
TEST_F(GapsTest, TheAdapterHasItsArgumentUntilItReturns) {
  const uint32_t given = linears_.at(0).given.block;
  const Step changed = With({256, 64, 1});
  const auto sum = std::find_if(changed.ops.begin(), changed.ops.end(), [&](const Op& op) {
    return changed.NameOf(op) == "aten::add" && op.node == kNone;
  });
  ASSERT_NE(sum, changed.ops.end());
  const auto named = std::find_if(changed.named.begin(), changed.named.end(),
                                  [&](const Named& one) { return one.block == given; });
  ASSERT_NE(named, changed.named.end());
  EXPECT_GT(named->until, sum->end);
  EXPECT_FALSE(named->all) << "others may have it too";
}

// As that of keys, whose heads attention put in front: UnsafeViewBackward0 makes rows of it.
TEST_F(GapsTest, AGradientThatLiesWithGapsIsCopiedForItsProducts) {
  const auto copies_with = [&](const std::vector<int64_t>& strides) {
    const uint32_t gradient = GradientPlacesOf(step_, linears_)[0].gradient.block;
    for (Operand& operand : step_.operands) {
      if (operand.block == gradient) operand.shape = Shape({2, 4, 64}), operand.strides = Shape(strides);
    }
    const Step changed = With({256, 64, 1});
    std::vector<StepBlock> copies;
    for (const StepBlock& block : changed.blocks) {
      if (block.id == kNone && block.op != kNone && changed.NameOf(changed.ops[block.op]) == "aten::clone")
        copies.push_back(block);
    }
    return copies;
  };
  EXPECT_EQ(copies_with({256, 64, 1}).size(), 0u);
  const std::vector<StepBlock> copies = copies_with({256, 1, 4});
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].requested, kBatchBytes);
  EXPECT_GT(copies[0].begin, step_.backward.front().begin);
  EXPECT_LT(copies[0].end - copies[0].begin, Inserter::kRoom) << "until its node is through";
}

TEST_F(GapsTest, ElseItIsKeptItself) { EXPECT_EQ(KeptCopies(With({256, 64, 1})).size(), 0u); }

TEST_F(GapsTest, ALayerThatTheStepDoesNotCallHasItsMatricesAlone) {
  LinearCall uncalled = linears_.at(0);
  uncalled.call = uncalled.matmul = uncalled.input = uncalled.output = kNone;
  uncalled.in = 128, uncalled.given.dtype = linears_.at(0).given.dtype;
  const Step one = WithLora(step_, linears_, {}, 2), two = WithLora(step_, linears_, {uncalled}, 2);
  ASSERT_EQ(two.blocks.size(), one.blocks.size() + 2);
  const auto bytes = [](const Step& step) {
    uint64_t sum = 0;
    for (const StepBlock& block : step.blocks) sum += block.requested;
    return sum;
  };
  EXPECT_EQ(bytes(two) - bytes(one), 2u * (128 + static_cast<uint64_t>(uncalled.out)) * 4);
  EXPECT_EQ(two.trained.size(), one.trained.size())
      << "they get no gradient, and the optimizer steps over them";
}

TEST_F(GapsTest, AdaptersGoToTheDeviceBehindTheirLayer) {
  const uint32_t weight = linears_.at(0).weight;
  const Step changed = With({256, 64, 1});
  std::vector<Position> at;
  for (const StepBlock& block : changed.blocks) {
    if (block.category == classify::Category::kParameter && block.id == kNone && block.copy_of == kNone)
      at.push_back(block.set_up);
  }
  ASSERT_EQ(at.size(), 2u);
  EXPECT_LT(SetUpAt(step_, weight), at[0]);
  EXPECT_EQ(at[0], at[1]);
  EXPECT_LT(at[1], SetUpAt(step_, weight) + 1) << "ahead of the next parameter";
}

// Nemotron's decoder is an LSTM, all of whose weights would be frozen.
TEST_F(GapsTest, WithARecurrentNetworkItIsRefused) {
  EXPECT_TRUE(LoraLever().Rewrite(step_, "8")->ok());
  Inserter into(step_, {});
  into.End(into.Begin("aten::_cudnn_rnn", kNone, kNone, 1, {}), 2, {});
  const std::optional<Result<Step>> changed = LoraLever().Rewrite(std::move(into).Finish(), "8");
  ASSERT_FALSE(changed->ok());
  EXPECT_TRUE(changed->error().sentence.starts_with("the weights of a recurrent network lie in one block"));
}

// What Informer's layers give their projections lies with gaps: linear() multiplies a copy, whose node hands
// on what it is given.
// x - tanh(x) of what one layer makes, in front of another one: once the other layer's gradient is a block of
// its own, the engine adds up in place, and the first layer is given that block.
TEST_F(GapsTest, ItIsKnownWhereTheGradientIsReadThatSumsMayMove) {
  const GradientPlace place = GradientPlacesOf(step_, linears_).at(0);
  ASSERT_LT(place.operand, step_.operands.size());
  const Operand& read = step_.operands[place.operand];
  EXPECT_EQ(read.block, place.gradient.block);
  EXPECT_EQ(step_.ops[read.op].begin, place.begin + 1) << "by the node that the layer's backward begins with";
}

TEST(GradientPlacesTest, TheNodeOfACopyHandsOnTheGradientOfTheInput) {
  model::Run run;
  Step bare;
  bare.run = &run;
  bare.shapes.push_back({});
  bare.backward.push_back({100, 200});
  bare.modules.push_back({0, kNone, 10, 20});
  Inserter into(bare, {});
  const auto tensor = [&](Position begin, int64_t width) {
    StepBlock block;
    block.begin = begin;
    Operand operand;
    operand.block = into.AddBlock(block), operand.shape = into.ShapeOf({8, width});
    operand.flags = static_cast<uint8_t>(trace::kTensorRequiresGrad);
    return operand;
  };
  const Operand x = tensor(1, 64), copied = tensor(12.5, 64), given = tensor(115, 32), sum = tensor(121, 64);
  const uint32_t clone = into.Begin("aten::clone", kNone, kNone, 12, {x});
  into.End(clone, 13, {copied});
  const uint32_t mm = into.Begin("aten::mm", kNone, kNone, 14, {copied});
  into.End(mm, 15, {});
  const uint32_t of_clone = into.AddNode(clone, 12.2), of_mm = into.AddNode(mm, 14.2);
  const auto run_node = [&](uint32_t node, const char* name, Position at, const Operand& gradient) {
    Step& step = into.step();
    step.nodes[node].name = into.Text(name), step.nodes[node].begin = at, step.nodes[node].end = at + 5;
    return into.Begin(name, kNone, node, at, {gradient});
  };
  const uint32_t outer = run_node(of_mm, "MmBackward0", 120, given);
  const uint32_t product = into.Begin("aten::mm", outer, of_mm, 121, {given});
  into.End(product, 122, {sum}), into.End(outer, 123, {});
  into.End(run_node(of_clone, "CloneBackward0", 130, sum), 131, {});
  LinearCall linear;
  linear.call = 0, linear.given = x, linear.in = 64, linear.out = 32;
  const std::vector<GradientPlace> places = GradientPlacesOf(std::move(into).Finish(), {linear});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].node, of_clone);
  EXPECT_EQ(places[0].sum, sum.block);
  EXPECT_EQ(places[0].sum_end, 135);
  EXPECT_EQ(places[0].gradient.block, given.block);
}

}  // namespace
}  // namespace vramscope::whatif
