// SPDX-License-Identifier: Apache-2.0
// What a program does in float16 alone, in a step put together by hand. Oracle: clamp and clamp_backward of
// PyTorch (aten/src/ATen/native, torch/csrc/autograd/FunctionsManual.cpp), and how a recording has
// softmax(x, dtype=torch.float32).to(torch.float16) of a program that says so for every type.
#include "profiler/whatif/precision/half_only.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

//   forward    10 work: x ─► y     20 work: y ─► z, whose node keeps y
//   backward   120 node of the second: given gz, makes gy     150 node of the first: given gy, makes gx
class HalfOnlyTest : public testing::Test, protected WrittenStep {
 protected:
  HalfOnlyTest() {
    step_.shapes.push_back({0, 1, true});
    step_.dims = {128};
    x_ = AddBlock(5, 160), y_ = AddBlock(10.5, 125), z_ = AddBlock(20.5, 126);
    first_ = Node(150), second_ = Node(120);
    Work(10, first_, {x_, y_});
    Work(20, second_, {y_, z_});
    gz_ = AddBlock(115, 124), gy_ = AddBlock(121, 152), gx_ = AddBlock(151, 190);
    Backward(second_, {gz_, gy_});
    Backward(first_, {gy_, gx_});
    for (uint32_t i = 0; i < 2; ++i) step_.nodes[i == 0 ? first_ : second_].op = i;
    step_.blocks[x_].op = kNone, step_.blocks[y_].op = 0, step_.blocks[z_].op = 1;
    for (Operand& operand : step_.operands) operand.shape = 1, operand.dtype = 6;
    step_.half_only.push_back({y_, 16});
  }

  void Backward(uint32_t node, const std::vector<uint32_t>& blocks) {
    Op op;
    op.name = step_.nodes[node].name;
    op.node = node;
    op.begin = step_.nodes[node].begin + 0.5;
    op.end = op.begin + 1;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = op.output_count = 1;
    op.first_output = op.first_input + 1;
    for (const uint32_t block : blocks) {
      Operand operand;
      operand.op = static_cast<uint32_t>(step_.ops.size());
      operand.block = block;
      step_.operands.push_back(operand);
    }
    step_.ops.push_back(op);
  }

  [[nodiscard]] whatif::Step Clamped() const {
    return WithHalfOnly(step_, std::vector<bool>(step_.blocks.size(), true));
  }
  [[nodiscard]] static const Op& Named(const whatif::Step& step, std::string_view name) {
    for (const Op& op : step.ops)
      if (step.NameOf(op) == name) return op;
    ADD_FAILURE() << name;
    return step.ops.front();
  }
  [[nodiscard]] static const StepBlock& ResultOf(const whatif::Step& step, std::string_view name) {
    return step.blocks[OutputsOf(step, Named(step, name))[0].block];
  }

  uint32_t x_, y_, z_, gx_, gy_, gz_, first_, second_;
};

TEST_F(HalfOnlyTest, WhatIsClampedStaysForBackwardBesideTheResult) {
  const whatif::Step changed = Clamped();
  const StepBlock& clamped = ResultOf(changed, "aten::clamp");
  EXPECT_EQ(clamped.requested, 512u);
  EXPECT_EQ(changed.Recorded(clamped.end), 125) << "as long as y was there";
  EXPECT_EQ(changed.Recorded(changed.blocks[y_].end), 149) << "until the clamp's node has run";
  EXPECT_GT(changed.blocks[y_].end, changed.blocks[z_].end);
}

TEST_F(HalfOnlyTest, WhatFollowsWorksOnTheClampedOne) {
  const whatif::Step changed = Clamped();
  const uint32_t clamped = OutputsOf(changed, Named(changed, "aten::clamp"))[0].block;
  EXPECT_EQ(InputsOf(changed, Named(changed, "aten::clamp"))[0].block, y_);
  for (const Saved& saved : changed.saved) {
    if (saved.node == second_) {
      EXPECT_EQ(saved.block, clamped);
    }
  }
  EXPECT_EQ(InputsOf(changed, changed.ops[2])[0].block, clamped) << "the second operator of forward";
}

TEST_F(HalfOnlyTest, ItsNodeMakesAGradientOfItsOwnAndTwoMasksOfABytePerElement) {
  const whatif::Step changed = Clamped();
  for (const char* mask : {"aten::ge", "aten::le"}) {
    EXPECT_EQ(ResultOf(changed, mask).requested, 128u);
    EXPECT_EQ(changed.Recorded(ResultOf(changed, mask).end), 149);
  }
  const StepBlock& own = ResultOf(changed, "ClampBackward1");
  EXPECT_EQ(own.requested, 512u);
  EXPECT_EQ(changed.Recorded(own.end), 152) << "gone when that of y went";
  EXPECT_EQ(changed.Recorded(changed.blocks[gy_].end), 149);
  EXPECT_LT(own.begin, changed.blocks[gy_].end) << "both are there";
}

TEST_F(HalfOnlyTest, SoftmaxIsAskedForFloat32AndWhatItReturnsConvertedBack) {
  step_.ops[0].name = Text("aten::softmax");
  step_.half_only = {{y_, 30, TypeBranch::Form::kSoftmax}};
  const whatif::Step changed = Clamped();
  const Op& softmax = Named(changed, "aten::softmax");
  const Op& back = Named(changed, "aten::to");
  EXPECT_EQ(changed.Text(softmax.dtype), "torch.float32");
  EXPECT_NE(back.dtype, 0u);
  EXPECT_EQ(InputsOf(changed, back)[0].block, y_);
  EXPECT_EQ(OutputsOf(changed, back)[0].block, y_);
  EXPECT_GT(back.begin, softmax.end);
  EXPECT_LT(back.end, changed.ops[2].begin) << "before the operator behind it";
  EXPECT_EQ(changed.blocks.size(), step_.blocks.size());
}

TEST_F(HalfOnlyTest, SoftmaxOfWhatIsNotIn16BitsAndWhatSoftmaxDidNotMakeAreLeftAlone) {
  step_.half_only = {{y_, 30, TypeBranch::Form::kSoftmax}};
  EXPECT_EQ(Clamped().ops.size(), step_.ops.size()) << "made by another operator";
  step_.ops[0].name = Text("aten::softmax");
  std::vector<bool> low(step_.blocks.size(), true);
  low[x_] = false;
  EXPECT_EQ(WithHalfOnly(step_, low).ops.size(), step_.ops.size());
}

TEST_F(HalfOnlyTest, NothingIsDoneToWhatIsNotIn16BitsOrGetsNoGradient) {
  EXPECT_EQ(WithHalfOnly(step_, std::vector<bool>(step_.blocks.size(), false)).ops.size(), step_.ops.size());
  step_.nodes[first_].begin = kForever;
  EXPECT_EQ(Clamped().ops.size(), step_.ops.size());
}

TEST_F(HalfOnlyTest, AVariableThatIsGivenTheClampedOneHoldsTheOtherUntilThen) {
  step_.named = {{y_, 60, 50}};
  const whatif::Step changed = Clamped();
  const Op& clamp = Named(changed, "aten::clamp");
  ASSERT_EQ(changed.named.size(), 2u);
  EXPECT_EQ(changed.named[0].block, y_);
  EXPECT_GT(changed.named[0].until, clamp.end);
  EXPECT_LT(changed.named[0].until, changed.ops[2].begin) << "before the operator behind it";
  EXPECT_EQ(changed.named[0].unconverted, changed.named[0].until);
  EXPECT_EQ(changed.named[1].block, OutputsOf(changed, clamp)[0].block);
  EXPECT_EQ(changed.Recorded(changed.named[1].until), 60);
  EXPECT_EQ(changed.Recorded(changed.named[1].unconverted), 50);
}

TEST_F(HalfOnlyTest, AVariableThatHasGoneByThenDoesNotHoldTheClampedOne) {
  step_.named = {{y_, 14, 14}};
  const whatif::Step changed = Clamped();
  ASSERT_EQ(changed.named.size(), 1u);
  EXPECT_EQ(changed.named[0].until, 14);
}

}  // namespace
}  // namespace vramscope::whatif
