// SPDX-License-Identifier: Apache-2.0
// `if (x > 0).any():` in the forward of a module, in steps put together by hand: LED asks so whether a token
// attends to all others, I-BERT for the range of what it quantizes.
#include "profiler/whatif/precision/asked_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class AskedValuesTest : public testing::Test, protected WrittenOperators {
 protected:
  // layers.0 from 10 to 60. Of x an operator makes scores, of which it asks whether one is larger than 0.
  AskedValuesTest() {
    Module("layers.0", 10, 60);
    x_ = AddBlock(1, 190);
    scores_ = Make("aten::mul", 12, x_);
    step_.blocks[x_].category = classify::Category::kInput;
  }
  uint32_t Make(const char* name, Position at, uint32_t from) {
    const uint32_t made = AddBlock(at + 0.5, 90);
    AddOp(name, kNone, {at, at + 1}, {from}, made);
    return made;
  }
  void Ask(uint32_t block, Position at, uint32_t node = kNone) {
    AddOp("aten::is_nonzero", node, {at, at + 1}, {block}, kNone);
  }
  uint32_t Compared() { return Make("aten::any", 16, Make("aten::gt", 14, scores_)); }
  // Of what the operator before that is given.
  void RequireGradient() { step_.operands[step_.ops[0].first_input].flags |= trace::kTensorRequiresGrad; }

  uint32_t x_ = 0, scores_ = 0;
};

TEST_F(AskedValuesTest, AModuleThatGoesOnByWhatItHasComputedIsNamed) {
  RequireGradient();
  Ask(Compared(), 18);
  EXPECT_THAT(
      WhyGoneOnByValues(step_),
      StartsWith("layers.0 goes on by what it has computed (is_nonzero), and values for other lengths "
                 "are not known"));
}

TEST_F(AskedValuesTest, AMaskMaySayWhatItLikes) {
  Ask(Compared(), 18);
  EXPECT_THAT(WhyGoneOnByValues(step_), IsEmpty());
}

TEST_F(AskedValuesTest, WhatIsComputedOfSomethingElseIsNotAsked) {
  RequireGradient();
  (void)Compared();
  Ask(Make("aten::any", 20, AddBlock(2, 190)), 22);
  EXPECT_THAT(WhyGoneOnByValues(step_), IsEmpty());
}

TEST_F(AskedValuesTest, OnlyModulesOfForwardCount) {
  RequireGradient();
  const uint32_t asked = Compared();
  Ask(asked, 70);
  EXPECT_THAT(WhyGoneOnByValues(step_), IsEmpty()) << "the loop itself";
  Ask(asked, 30, Node(120));
  EXPECT_THAT(WhyGoneOnByValues(step_), IsEmpty()) << "a node";
  Ask(asked, 40);
  EXPECT_THAT(WhyGoneOnByValues(step_), HasSubstr("layers.0"));
}

TEST_F(AskedValuesTest, ASequenceOfAnotherLengthIsRefused) {
  Operand& ids = step_.operands[step_.ops[0].first_input];
  ids.dtype = 4;  // c10::ScalarType::Long
  ids.shape = static_cast<uint32_t>(step_.shapes.size());
  step_.shapes.push_back(ParseShape("4,32", step_.dims));
  ids.strides = static_cast<uint32_t>(step_.shapes.size());
  step_.shapes.push_back(ParseShape("32,1", step_.dims));
  Ask(Compared(), 18);
  const auto longer = [&] { return *SequenceLever().Rewrite(step_, "64"); };
  EXPECT_TRUE(longer().ok()) << longer().error().sentence;
  RequireGradient();
  ASSERT_FALSE(longer().ok());
  EXPECT_THAT(longer().error().sentence, StartsWith("layers.0 goes on by what it has computed"));
}

}  // namespace
}  // namespace vramscope::whatif
