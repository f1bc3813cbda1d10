// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/wide_lines.h"

#include <gtest/gtest.h>

#include "profiler/whatif/source/type_branches.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// F.normalize(x.float() if wide else x).to(x.dtype), recorded in float32: x / |x|.
class WideLinesTest : public testing::Test, protected WrittenOperators {
 protected:
  WideLinesTest() {
    Module("norm", 5, 80);
    x_ = AddBlock(2, kForever), length_ = AddBlock(11, 24), made_ = AddBlock(21, kForever);
    step_.blocks[x_].op = AddOp("aten::conv3d", kNone, {1, 3}, {}, x_);
    norm_ = Run(AddOp("aten::linalg_vector_norm", kNone, {10, 12}, {x_}, length_), 206);
    div_ = Run(AddOp("aten::div", kNone, {20, 22}, {x_, length_}, made_), 206);
    back_ = Run(AddOp("aten::to", kNone, {30, 31}, {made_}, made_), 206);
    step_.ops[back_].dtype = Text("torch.float32");
    Run(AddOp("aten::silu", kNone, {40, 42}, {made_}, AddBlock(41, kForever)), 207);
  }

  uint32_t Run(uint32_t op, int line) {
    lines_.AddCaller(op, Text("normalize (torch/nn/functional.py:6173)"));
    lines_.AddCaller(op, Text("Norm.forward (models/my model.py:" + std::to_string(line) + ")"));
    return op;
  }
  void Passed(const std::string& what) {
    AddTypeBranch(step_, {x_, 50}, what + ": Norm.forward, my model.py:206");
  }
  // Whether x.float() is put in, where x is first used.
  [[nodiscard]] bool PutIn() {
    const size_t recorded = step_.ops.size();
    lines_.PutIn(step_);
    if (step_.ops.size() == recorded) return false;
    const Op& wide = step_.ops[norm_];
    EXPECT_EQ(step_.NameOf(wide), "aten::to");
    EXPECT_EQ(wide.asks, Asks::kType);
    EXPECT_EQ(InputsOf(step_, wide)[0].block, x_);
    EXPECT_EQ(OutputsOf(step_, wide)[0].block, x_);
    EXPECT_EQ(step_.NameOf(step_.ops[norm_ + 1]), "aten::linalg_vector_norm");
    EXPECT_EQ(step_.ops[back_ + 1].asks, Asks::kOrigin);
    return true;
  }

  WideLines lines_;
  uint32_t x_ = 0, length_ = 0, made_ = 0, norm_ = 0, div_ = 0, back_ = 0;
};

TEST_F(WideLinesTest, WhatIsTakenBackWasMadeWideInTheSameLine) {
  Passed("perhaps in float16"), Passed("perhaps in bfloat16"), Passed("perhaps under autocast");
  EXPECT_TRUE(PutIn());
  ASSERT_EQ(step_.other_branches.size(), 1u) << "what is asked for in 16 bits is known now";
  EXPECT_EQ(step_.other_branches[0].type, 0);
}

TEST_F(WideLinesTest, WithoutABranchNothingIsMadeWide) { EXPECT_FALSE(PutIn()); }

TEST_F(WideLinesTest, ABranchOnOneTypeAloneStaysUnknown) {
  Passed("perhaps in float16");
  EXPECT_FALSE(PutIn());
  EXPECT_EQ(step_.other_branches.size(), 1u);
}

TEST_F(WideLinesTest, ASureBranchStaysRefused) {
  Passed("other in float16"), Passed("other in bfloat16");
  EXPECT_FALSE(PutIn());
}

TEST_F(WideLinesTest, WithAParameterItIsNotKnownWhatIsMadeWide) {
  Passed("perhaps in float16"), Passed("perhaps in bfloat16");
  step_.operands[step_.ops[div_].first_input + 1].block = AddBlock(kBefore, kForever);
  step_.blocks.back().category = classify::Category::kParameter;
  EXPECT_FALSE(PutIn());
}

TEST_F(WideLinesTest, AModuleThatIsCalledThereHasItsOwnLines) {
  Passed("perhaps in float16"), Passed("perhaps in bfloat16");
  Module("norm.inner", 14, 18, 0);
  EXPECT_FALSE(PutIn());
}

TEST_F(WideLinesTest, AnOperatorThatNamesATypeMakesWideItself) {
  Passed("perhaps in float16"), Passed("perhaps in bfloat16");
  step_.ops[div_].dtype = Text("torch.float32");
  EXPECT_FALSE(PutIn());
}

}  // namespace
}  // namespace vramscope::whatif
