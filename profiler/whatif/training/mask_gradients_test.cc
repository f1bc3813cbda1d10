// SPDX-License-Identifier: Apache-2.0
// T5's zeros in attention over the encoder's words: the oracle are mT5's runs with checkpoints on the
// simulated device.
#include "profiler/whatif/training/mask_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/lives.h"
#include "profiler/whatif/testing/written_operators.h"
#include "profiler/whatif/training/input_gradients.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint32_t kMask = 0, kQuery = 1;  // blocks
constexpr uint64_t kMaskBytes = 4 * 30 * 30 * 4;

// zeros(1, 4, 30, 30) in a module, a loss, and backward of attention twice, for 3 samples.
class MaskGradientsTest : public testing::Test {
 protected:
  MaskGradientsTest() {
    Step bare;
    bare.run = &run_;
    bare.shapes.push_back({});
    bare.backward.push_back({30, 80});
    bare.length = 100;
    Inserter into(bare, {});
    Add(into, 2, kMaskBytes), Add(into, 41.5, 512);
    const Operand expanded = Seen(into, kMask, {3, 4, 30, 30}, {0, 900, 30, 1});
    into.End(into.Begin("aten::zeros", kNone, kNone, 1, {}), 3,
             {Seen(into, kMask, {1, 4, 30, 30}, {3600, 900, 30, 1})});
    for (uint32_t layer = 0; layer < 2; ++layer) {
      std::vector<Operand> given(5);
      given[4] = expanded;
      const uint32_t op =
          into.Begin("aten::_efficient_attention_backward", kNone, layer, 40 + 10 * layer, given);
      into.End(op, 45 + 10 * layer, {Seen(into, kQuery, {3, 4, 30, 64}, {7680, 1920, 64, 1})});
    }
    step_ = std::move(into).Finish();
    step_.nodes.resize(2);
    for (uint32_t layer = 0; layer < 2; ++layer) step_.nodes[layer].end = 46 + 10 * layer;
    step_.own_texts->push_back("layers.0.cross");
    step_.modules.push_back(
        {Step::kFirstOwnText + static_cast<uint32_t>(step_.own_texts->size()) - 1, kNone, 0.5, 4});
    StepBlock before;  // the loss of the step before, which goes when this one's is there
    before.begin = kBefore, before.end = 12, before.requested = 4;
    step_.blocks.push_back(before);
    scene_.length = 100;
    scene_.backward = {{30, 80}};
    Block mask;
    mask.origin = kMask, mask.begin = 2, mask.end = 50;
    scene_.blocks.push_back(mask);
  }
  static void Add(Inserter& into, Position begin, uint64_t bytes) {
    StepBlock block;
    block.begin = begin, block.requested = bytes;
    (void)into.AddBlock(block);
  }
  static Operand Seen(Inserter& into, uint32_t block, const std::vector<int64_t>& shape,
                      const std::vector<int64_t>& strides) {
    Operand operand;
    operand.block = block, operand.dtype = 6;
    operand.shape = into.ShapeOf(shape), operand.strides = into.ShapeOf(strides);
    return operand;
  }

  model::Run run_;
  Step step_;
  Scene scene_;
};

TEST_F(MaskGradientsTest, MasksAreThoseThatAModuleMakesOfNothing) {
  ASSERT_TRUE(MasksOf(step_, "layers.*.cross").ok());
  EXPECT_EQ(*MasksOf(step_, "layers.*.cross"), std::vector<uint32_t>{kMask});
  EXPECT_TRUE(MasksOf(step_, "")->empty());
  EXPECT_EQ(MasksOf(step_, "layers.0.self").error().sentence,
            "no module of the recorded step that makes a mask for attention is called "
            "layers.0.self.");
  const uint32_t zeros = step_.ops[0].name;
  step_.own_texts->push_back("aten::constant_pad_nd");
  step_.ops[0].name = Step::kFirstOwnText + static_cast<uint32_t>(step_.own_texts->size()) - 1;
  step_.blocks[kMask].op = 0;
  EXPECT_FALSE(MasksOf(step_, "layers.0.cross").ok()) << "attention filled its rows up";
  step_.ops[0].name = zeros;
  EXPECT_TRUE(MasksOf(step_, "layers.0.cross").ok());
  step_.nodes.emplace_back();
  EXPECT_TRUE(MasksOf(step_, "layers.0.cross").ok()) << "a node of which nothing is known";
  step_.nodes.emplace_back().op = 0;
  EXPECT_FALSE(MasksOf(step_, "layers.0.cross").ok()) << "it is computed from a parameter";
}

TEST_F(MaskGradientsTest, EachAttentionComputesOneAndTheFirstSumStays) {
  AddMaskGradients(step_, {kMask}, scene_);
  ASSERT_EQ(scene_.blocks.size(), 1u + 4);
  EXPECT_GT(scene_.blocks[0].end, 112) << "the mask, until the loss is another one";
  constexpr uint64_t kFilled = 3 * 4 * 30 * 32 * 4;  // rows of 30 as 32
  const Block *const gradient = &scene_.blocks[1], *const sum = &scene_.blocks[2];
  EXPECT_EQ(gradient[0].bytes, kFilled);
  EXPECT_TRUE(gradient[0].for_each_sample);
  EXPECT_GT(gradient[0].begin, 41.5);
  EXPECT_LT(gradient[0].begin, 42) << "behind those of queries, keys and values";
  EXPECT_LT(gradient[0].end, 47);
  EXPECT_EQ(sum[0].bytes, kMaskBytes);
  EXPECT_FALSE(sum[0].for_each_sample);
  EXPECT_GT(sum[0].end, 112);
  EXPECT_LT(sum[2].end, 57) << "added to the first one";
  EXPECT_LT(sum[2].begin, gradient[2].end);
}

// scores + position_bias, as LongT5 writes attention out: AddBackward hands its gradient on, which the engine
// sums up for the mask.
class WrittenOutMaskTest : public testing::Test, protected WrittenOperators {
 protected:
  WrittenOutMaskTest() {
    step_.shapes.push_back({1, 2, true}), step_.dims = {128, 3, 128};
    Module("layers.0.cross", 0, 40);
    mask_ = AddBlock(6, 60), AddOp("aten::zeros", kNone, {5, 7}, {}, mask_);
    for (const Position at : {10, 20}) {
      const uint32_t scores = AddBlock(at - 1, 60), sum = AddBlock(at + 1, 60);
      const uint32_t add = AddOp("aten::add", kNone, {at, at + 2}, {scores, mask_}, sum);
      for (uint32_t i : {step_.ops[add].first_input, step_.ops[add].first_output})
        step_.operands[i].shape = 2;
      AddNode("AddBackward0", add, 180 - at);
    }
  }

  uint32_t mask_ = 0;
};

TEST_F(WrittenOutMaskTest, IsAMaskWhereItIsAddedToSomethingLarger) {
  EXPECT_EQ(*MasksOf(step_, "layers.0.cross"), std::vector<uint32_t>{mask_});
  for (Operand& operand : step_.operands) operand.shape = 1;
  EXPECT_FALSE(MasksOf(step_, "layers.0.cross").ok());
}

TEST_F(WrittenOutMaskTest, ItsGradientsAreSumsAloneOfWhichTheFirstStays) {
  Scene scene = MakeScene(step_);
  AddMaskGradients(step_, {mask_}, scene);
  const Position over = GraphGoes(step_);
  EXPECT_THAT(LivesOf(scene, mask_), testing::ElementsAre(Life(6, over), Life(164, over), Life(174, 174)));
}

}  // namespace
}  // namespace vramscope::whatif
