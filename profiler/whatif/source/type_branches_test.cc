// SPDX-License-Identifier: Apache-2.0
// Branches on a tensor's type whose form is not known: refused where they surely do something else, told with
// a wider bound where that is not sure, and left alone where they go the way that was recorded.
#include "profiler/whatif/source/type_branches.h"

#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

class OtherBranchTest : public testing::Test {
 protected:
  OtherBranchTest() : step_(TheLoop().Read()) {
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      if (step_.blocks[i].id == TheLoop().s.Id("hidden")) hidden_ = i;
    }
  }

  void Passed(const std::string& what) { AddTypeBranch(step_, {hidden_, 1}, what); }
  [[nodiscard]] Prediction After(const char* lever, const char* type) const {
    return Predict(step_, MakeBaseline(step_, *TheLoop().analysis).value(), {{lever, type}}).value();
  }
  [[nodiscard]] std::string Refused(const char* lever, const char* type) const {
    const Prediction after = After(lever, type);
    return after.refused.empty() ? "" : after.refused[0].reason;
  }

  whatif::Step step_;
  uint32_t hidden_ = 0;
};

TEST_F(OtherBranchTest, WhatIsDoneInAnotherTypeIsRefusedForThatTypeAloneAndSaysWhere) {
  Passed("other in float16: Gate.forward, model.py:7");
  EXPECT_EQ(Refused("precision", "fp16"),
            "the program asks for float16 in Gate.forward, model.py:7, and does with it what a recording "
            "without it lacks: record the program so.");
  EXPECT_EQ(Refused("precision", "bf16"), "");
  EXPECT_NE(Refused("amp", "fp16"), "") << "hidden is what a product of matrices returned";
  EXPECT_EQ(Refused("amp", "bf16"), "");
}

TEST_F(OtherBranchTest, UnderAutocastATensorThatStaysFloat32IsAskedInVain) {
  step_.other_branches.push_back({step_.trained[0], kBfloat16Type, true, "Gate.forward, model.py:7"});
  EXPECT_EQ(Refused("amp", "bf16"), "");
  EXPECT_NE(Refused("precision", "bf16"), "");
}

TEST_F(OtherBranchTest, WhatAsksForAutocastIsRefusedForAmp) {
  Passed("other under autocast: Gate.forward, model.py:7");
  EXPECT_NE(Refused("amp", "bf16"), "");
  EXPECT_EQ(Refused("precision", "bf16"), "");
  EXPECT_TRUE(AmpLever().Settings(step_).empty()) << "nor does a search try it";
}

TEST_F(OtherBranchTest, WhatIsNotSureIsToldOnceAndTheWorstErrorsAreAdded) {
  const Prediction sure = After("precision", "bf16");
  for (int pass = 0; pass < 3; ++pass) Passed("perhaps in bfloat16: Gate.forward, model.py:7");
  Passed("perhaps in float16: Gate.forward, model.py:9");
  const Prediction after = After("precision", "bf16");
  ASSERT_TRUE(after.refused.empty());
  EXPECT_EQ(after.after.peak.bytes, sure.after.peak.bytes);
  EXPECT_GT(after.band.allocated_more.share, sure.band.allocated_more.share);
  EXPECT_EQ(after.band.not_measured, std::vector<std::string>{"branches on types"});
  size_t told = 0;
  for (const std::string& note : after.levers[0].outcome.notes) {
    told += static_cast<size_t>(note.find("Gate.forward, model.py:7") != std::string::npos);
    EXPECT_EQ(note.find("model.py:9"), std::string::npos);
  }
  EXPECT_EQ(told, 1u);
}

TEST_F(OtherBranchTest, OfOneThatWasPassedManyTimesTheSurestCounts) {
  Passed("perhaps in float16: Gate.forward, model.py:7");
  Passed("other in float16: Gate.forward, model.py:7");
  Passed("something of a later recorder");
  ASSERT_EQ(step_.other_branches.size(), 1u);
  EXPECT_TRUE(step_.other_branches[0].sure);
}

TEST_F(OtherBranchTest, AKnownFormIsOfTheTypeThatItNames) {
  Passed("clamp");
  Passed("clamp in bfloat16");
  Passed("softmax in bfloat16");
  ASSERT_EQ(step_.half_only.size(), 3u);
  EXPECT_FALSE(step_.half_only[0].bfloat16);
  EXPECT_TRUE(step_.half_only[1].bfloat16);
  EXPECT_EQ(step_.half_only[2].form, TypeBranch::Form::kSoftmax);
  EXPECT_TRUE(step_.half_only[2].bfloat16);
}

}  // namespace
}  // namespace vramscope::whatif
