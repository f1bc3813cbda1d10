// SPDX-License-Identifier: Apache-2.0
// Oracle: training loops without a data loader. In addition to its batches, each loop allocates blocks that
// its test describes.
#include "profiler/classify/kept.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/classify/weight_copies.h"
#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::testing::Script;

// The categories of a script's blocks during their lives.
struct Lives {
  explicit Lives(const Script& script) : s(script), run(script.Load()), analysis(run) {}
  std::string operator()(const std::string& block) const {
    std::string story;
    for (const Stretch& stretch : analysis.categories().Of(s.Id(block)))
      story += (story.empty() ? "" : " > ") + std::string(Info(stretch.category).key);
    return story;
  }

  const Script& s;
  model::Run run;
  Analysis analysis;
};

// Four steps; each batch lives until the next one is created. `between` runs where batches are created.
Script MadeByHand(const std::function<void(Script&, int)>& between) {
  Script s;
  s.Alloc("weight", 400).Parameter("weight", "fc.weight");
  for (int step = 1; step <= 4; ++step) {
    const std::string number = std::to_string(step);
    s.Alloc("batch" + number, 64);
    if (step > 1) s.Free("batch" + std::to_string(step - 1));
    between(s, step);
    s.Alloc("hidden", 128).Saved("batch" + number).Saved("hidden");
    s.Backward([&] {
      s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden");
      s.Released("batch" + number);
    });
    s.Optimizer("SGD", [&] {});
    s.Free("grad");
  }
  return s;
}

TEST(KeptTest, WhatTheProgramKeepsForGoodIsNoInput) {
  const Script s = MadeByHand([](Script& t, int step) { t.Alloc("kept" + std::to_string(step), 96); });
  const Lives story(s);
  EXPECT_EQ(story("kept2"), "unattributed");
  EXPECT_EQ(story("kept4"), "unattributed") << "as those of its size before it";
  EXPECT_EQ(story("batch2"), "input");
  EXPECT_EQ(story("batch4"), "input");
}

TEST(KeptTest, ACopyOfAllWeightsIsNoInput) {
  const Script s = MadeByHand([](Script& t, int step) {
    if (step == 1) t.Alloc("bias", 16).Parameter("bias", "fc.bias");
    if (step == 1) return;
    const std::string number = std::to_string(step);
    t.Alloc("best weight" + number, 400).Alloc("best bias" + number, 16).Alloc("noise" + number, 40);
    if (step > 2) {
      const std::string before = std::to_string(step - 1);
      t.Free("best weight" + before).Free("best bias" + before).Free("noise" + before);
    }
  });
  const Lives story(s);
  EXPECT_EQ(story("best weight3"), "unattributed");
  EXPECT_EQ(story("best bias3"), "unattributed");
  EXPECT_EQ(story("noise3"), "input") << "made beside them, of no weight's size";
  const auto copies = FindWeightCopies(story.run, story.analysis.training());
  EXPECT_EQ(copies.size(), 2u * 3);
  for (const model::BlockId copy : copies)
    EXPECT_EQ(story.analysis.categories().Of(copy)[0].proof, Proof::kWeightCopy);
}

TEST(KeptTest, ALeafThatStaysIsNoParameterWhereParametersHaveNames) {
  const Script s = MadeByHand([](Script& t, int step) {
    const std::string x = "x" + std::to_string(step);
    t.Alloc(x, 96).Saved(x);
    t.Backward([&] { t.Alloc("of" + x, 96).Gradient("of" + x, x).Released(x); });
  });
  const Lives story(s);
  EXPECT_EQ(story("x2").find("parameter"), std::string::npos) << story("x2");
  EXPECT_EQ(story("ofx2").find("gradient"), std::string::npos) << story("ofx2");
  EXPECT_EQ(story("weight"), "parameter");
}

}  // namespace
}  // namespace vramscope::classify
