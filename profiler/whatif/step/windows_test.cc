// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

// Forward has a backward pass of its own, which gives no parameter a gradient.
class TracedLoopTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string WhyRefused(const Asked& asked) const {
    const Prediction prediction = Predict(step_, baseline_, {asked}).value();
    return prediction.refused.empty() ? "" : prediction.refused.front().reason;
  }

  const Loop loop_{false, true};
  const Step step_ = loop_.Read();
  const Baseline baseline_ = MakeBaseline(step_, *loop_.analysis).value();
};

TEST_F(TracedLoopTest, ItsSecondPassIsTheStepsOwn) {
  ASSERT_EQ(step_.backward.size(), 2u);
  EXPECT_EQ(FirstBackward(step_), 1u);
  EXPECT_EQ(FirstBackward(TheLoop().Read()), 0u);
  EXPECT_EQ(WhyBackwardInForward(TheLoop().Read(), "a change"), "");
}

TEST_F(TracedLoopTest, WhatAutogradKeepsIsLeftAlone) {
  EXPECT_THAT(WhyRefused({"offload", "activations"}), ::testing::HasSubstr("gives no parameter a gradient"));
  EXPECT_EQ(WhyRefused({"optimizer", "sgd"}), "");
}

TEST_F(TracedLoopTest, TheCacheIsEmptiedBeforeThePassOfTheLoss) {
  const Scene scene = Predictor(step_, baseline_).Change({{"empty-cache", "before-backward"}}).scene;
  ASSERT_EQ(scene.empty_cache.size(), 1u);
  EXPECT_GT(scene.empty_cache[0], step_.backward[0].end);
  EXPECT_LT(scene.empty_cache[0], step_.backward[1].begin);
}

// torch.cuda.empty_cache() between two blocks of forward. Segments that an operator frees for lack of memory
// do not count.
TEST(WindowsTest, WhereTheProgramEmptiesTheCacheIsSeenBySegmentsThatGo) {
  Loop loop;
  const Step plain = loop.Read();
  EXPECT_TRUE(plain.cache_emptied.empty());
  const auto gelu = std::ranges::find_if(
      plain.ops, [&](const Op& op) { return plain.NameOf(op) == "aten::gelu" && op.node == model::kNone; });
  const Position between = plain.modules[2].begin;
  for (const Position at : {between, between, gelu->begin + 1}) {
    model::Segment segment;
    segment.process = loop.run.devices[0].process;
    segment.device_code = loop.run.devices[0].code;
    segment.end = plain.first_event + static_cast<model::EventIndex>(at.event);
    loop.run.driver.segments.push_back(segment);
  }
  const Step step = loop.Read();
  ASSERT_EQ(step.cache_emptied.size(), 1u);
  EXPECT_LT(step.cache_emptied[0], between);
  EXPECT_GT(step.cache_emptied[0], between - 1);
  EXPECT_EQ(MakeScene(step).empty_cache, step.cache_emptied);
}

}  // namespace
}  // namespace vramscope::whatif
