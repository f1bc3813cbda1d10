// SPDX-License-Identifier: Apache-2.0
// Steps and scenes that are broken on purpose, one thing at a time.
#include "profiler/whatif/scene/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

std::string WhyBrokenWith(const std::function<void(Step&)>& change) {
  Step step = TheLoop().Read();
  change(step);
  return WhyBroken(step);
}

std::string WhyBrokenIn(const std::function<void(Scene&)>& change) {
  const Step step = TheLoop().Read();
  Scene scene = MakeScene(step);
  change(scene);
  return WhyBroken(step, scene);
}

TEST(InvariantsTest, WhatWasRecordedKeepsThemAndSoDoLevers) {
  const Step step = TheLoop().Read();
  EXPECT_EQ(WhyBroken(step), "");
  EXPECT_EQ(WhyBroken(step, MakeScene(step)), "");
  for (const char* const modules : {"all", "blocks.0"}) {
    Scene scene = MakeScene(step);
    ASSERT_TRUE(CheckpointLever().Apply(step, modules, scene).ok());
    EXPECT_EQ(WhyBroken(step, scene), "") << modules;
  }
}

TEST(InvariantsTest, ABrokenStepIsCaught) {
  EXPECT_EQ(WhyBrokenWith([](Step& step) { step.blocks[2].end = step.blocks[2].begin - 1; }),
            "block 2 ends before it begins");
  EXPECT_EQ(WhyBrokenWith([](Step& step) { step.ops[1].parent = 1; }),
            "operator 1 is within one that comes later");
  EXPECT_EQ(WhyBrokenWith([](Step& step) { step.saved[0].block = {}; }),
            "saved tensor 0 is of no node, or in no block");
  EXPECT_EQ(WhyBrokenWith([](Step& step) { step.backward[0].end = step.length + 1; }),
            "backward pass 0 is not within the step");
}

TEST(InvariantsTest, ABrokenSceneIsCaught) {
  const auto of = [](Scene& scene, Birth birth) {
    return std::ranges::find(scene.blocks, birth, &Block::birth);
  };
  EXPECT_THAT(WhyBrokenIn([&](Scene& scene) { of(scene, Birth::kSetup)->begin = 3; }),
              testing::HasSubstr("of the setup begins in the loop"));
  EXPECT_THAT(WhyBrokenIn([&](Scene& scene) { of(scene, Birth::kEachStep)->end = kForever; }),
              testing::HasSubstr("outlives the step behind its own"));
  EXPECT_THAT(WhyBrokenIn([&](Scene& scene) { of(scene, Birth::kEachStep)->begin = scene.length + 1; }),
              testing::HasSubstr("begins outside of its step"));
  EXPECT_EQ(WhyBrokenIn([](Scene& scene) {
              scene.again.push_back({5, 9, 7, 8, 10, {}});
            }),
            "segment 0 is not computed again behind itself");
}

}  // namespace
}  // namespace vramscope::whatif
