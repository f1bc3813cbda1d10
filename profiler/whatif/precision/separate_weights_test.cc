// SPDX-License-Identifier: Apache-2.0
// A block that two weights were moved to, 128 and 64 floats, beside one that went before the loop for another
// reason.
#include "profiler/whatif/precision/separate_weights.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

class SeparateWeightsTest : public testing::Test, protected WrittenStep {
 protected:
  SeparateWeightsTest() {
    step_.shapes = {{}, {0, 1, true}, {1, 1, true}};
    step_.dims = {256, 64};
    step_.torch_version = "2.15.0";
    flat_ = AddBlock(kBefore, kForever);
    step_.blocks[flat_].requested = 1280;
    step_.blocks[flat_].category = classify::Category::kParameter;
    step_.trained = {flat_};
    const uint32_t out = AddBlock(11, 20);
    Work(10, Node(110), {flat_, flat_, out});
    Op& op = step_.ops.back();
    op.name = Text("aten::_cudnn_rnn");
    op.dtype = Text("none is asked for");  // the run has no texts
    op.input_count = 2, op.first_output = 2;
    for (uint16_t i = 0; i < 2; ++i) {
      Operand& weight = step_.operands[i];
      weight.element = i + 1, weight.shape = i + 1, weight.offset = 256 * i, weight.dtype = kFloatType;
    }
    step_.passing = {{-9, -3, 1024, 0}, {-8, -3, 512, 0}, {-7, -6, 2048, 0}};
  }
  uint32_t flat_ = 0;
};

TEST_F(SeparateWeightsTest, EachIsWhereItWasMovedTo) {
  Step changed = step_;
  for (Passing& one : changed.passing) one.bytes /= 2;
  SeparateWeights(step_, changed);
  ASSERT_EQ(changed.blocks.size(), step_.blocks.size() + 1);
  const StepBlock &first = changed.blocks[flat_], &second = changed.blocks.back();
  EXPECT_EQ(first.requested, 512u);
  EXPECT_EQ(first.set_up, -9);
  EXPECT_EQ(second.requested, 128u);
  EXPECT_EQ(second.set_up, -8);
  EXPECT_EQ(second.category, classify::Category::kParameter);
  ASSERT_EQ(changed.passing.size(), 1u) << "what was flattened stays";
  EXPECT_EQ(changed.passing[0].bytes, 1024u);
}

TEST_F(SeparateWeightsTest, OnlyInBfloat16) {
  for (const bool bfloat : {false, true}) {
    const Step changed = AllInLow(step_, bfloat ? kBfloat16Type : kHalfType);
    EXPECT_EQ(changed.passing.size(), bfloat ? 1u : 3u);
    EXPECT_EQ(changed.blocks[flat_].requested, bfloat ? 512u : 640u);
  }
}

TEST_F(SeparateWeightsTest, FrozenOnesToo) {
  step_.trained.clear();
  const Step changed = AllInLow(step_, kBfloat16Type);
  EXPECT_EQ(changed.blocks[flat_].requested, 512u);
  EXPECT_TRUE(std::ranges::any_of(changed.blocks, [&](const StepBlock& block) {
    return block.copy_of == flat_ && block.requested == 640 && block.begin > 10;
  })) << "what the call is given";
}

TEST_F(SeparateWeightsTest, ABlockOfOneWeightIsLeftAlone) {
  step_.operands[1].block = model::kNone;
  Step changed = step_;
  SeparateWeights(step_, changed);
  EXPECT_EQ(changed.blocks.size(), step_.blocks.size());
  EXPECT_EQ(changed.passing.size(), 3u);
}

}  // namespace
}  // namespace vramscope::whatif
