// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/origin.h"

#include <gtest/gtest.h>

#include "profiler/classify/analysis.h"
#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::testing::Script;

// Three steps, the second one deep; `extra_in_step_3` is allocated in the middle of the third.
Script ThreeSteps(bool extra_in_step_3) {
  Script s;
  for (int step = 1; step <= 3; ++step) {
    const auto layer = [&](const std::string& name, uint64_t size) {
      const auto body = [&] { s.Alloc(name, size).Saved(name); };
      if (step == 2) {
        s.Module(name + "_module", [&] { s.Op("aten::linear", body); });
      } else {
        body();
      }
    };
    layer("a", 100);
    layer("b", 200);
    if (step == 3 && extra_in_step_3) s.Alloc("extra", 7);
    layer("c", 300);
    s.Backward([&] { s.Released("a").Free("a").Released("b").Free("b").Released("c").Free("c"); });
    s.Optimizer("SGD", [] {});
  }
  return s;
}

std::string ModuleOf(const model::Run& run, const Origin& origin) {
  return std::string(run.Text(run.contexts.PlaceOf(origin.context).module));
}

TEST(OriginTest, ALightStepThatAllocatesAlikeHasTheOriginsOfTheDeepOne) {
  const Script s = ThreeSteps(false);
  const auto run = s.Load();
  const Analysis analysis(run);
  Origins origins(run, analysis.training());
  for (const char* block : {"a", "b", "c"}) {
    EXPECT_EQ(ModuleOf(run, origins.Of(s.Id(block, 3))), std::string(block) + "_module");
    EXPECT_EQ(origins.Of(s.Id(block, 3)).as_in_step, 2u);
    EXPECT_EQ(origins.Of(s.Id(block, 2)).as_in_step, 0u) << "its own record";
  }
}

TEST(OriginTest, WhatDiffersHasNoOriginAndWhatLiesAroundItHas) {
  const Script s = ThreeSteps(true);
  const auto run = s.Load();
  const Analysis analysis(run);
  Origins origins(run, analysis.training());
  EXPECT_EQ(ModuleOf(run, origins.Of(s.Id("b", 3))), "b_module");
  EXPECT_EQ(ModuleOf(run, origins.Of(s.Id("c", 3))), "c_module");
  EXPECT_EQ(origins.Of(s.Id("extra")).context, 0u);
}

// Counted from the end of the step, the first step's optimizer state has the same position as a gradient or
// temporary of the same size in the deep step.
TEST(OriginTest, StateThatIsMadeOnceHasNoOriginInAStepThatMakesNone) {
  Script s;
  for (int step = 1; step <= 3; ++step) {
    const auto with_op = [&](const std::string& name, const auto& body) {
      if (step == 2) {
        s.Op(name, body);
      } else {
        body();
      }
    };
    const auto forward = [&] { with_op("aten::embedding", [&] { s.Alloc("x", 100).Saved("x"); }); };
    if (step == 2) {
      s.Module("embedding", forward);
    } else {
      forward();
    }
    s.Backward([&] { with_op("EmbeddingBackward0", [&] { s.Alloc("grad", 400); }); });
    s.Optimizer("AdamW", [&] {
      if (step == 1) s.Alloc("exp_avg", 400).Alloc("exp_avg_sq", 400);
      with_op("aten::sqrt", [&] { s.Alloc("root", 400); });
      s.Free("root");
    });
    s.Released("x").Free("x").Free("grad");
  }
  const auto run = s.Load();
  const Analysis analysis(run);
  Origins origins(run, analysis.training());
  EXPECT_EQ(origins.Of(s.Id("exp_avg")).context, 0u);
  EXPECT_EQ(origins.Of(s.Id("exp_avg_sq")).context, 0u);
  EXPECT_EQ(origins.Of(s.Id("root", 1)).as_in_step, 2u);
  EXPECT_EQ(origins.Of(s.Id("grad", 3)).as_in_step, 2u);
}

TEST(OriginTest, StateOfTheFirstStepIsNotTakenForWhatBackwardMakesInADeepOne) {
  Script s;
  for (int step = 1; step <= 2; ++step) {
    s.Alloc("a", 8).Saved("a");
    s.Backward([&] {
      s.Node("MmBackward0", 1, [&] { s.Alloc("grad", 400); });
      s.Released("a").Free("a");
    });
    s.Optimizer("Adam", [&] {
      if (step == 1) s.Alloc("state", 400);
      s.Alloc("scratch", 64).Free("scratch");
    });
    s.Free("grad");
    if (step == 1) s.Mark(trace::MarkKind::kDeepBegin, 2);
  }
  const auto run = s.Load();
  const Analysis analysis(run);
  Origins origins(run, analysis.training());
  EXPECT_EQ(origins.Of(s.Id("state")).context, 0u);
}

TEST(OriginTest, WithoutADeepStepNothingIsKnown) {
  Script s;
  s.Alloc("a", 8).Saved("a").Backward([] {}).Optimizer("SGD", [] {});
  const auto run = s.Load();
  const Analysis analysis(run);
  Origins origins(run, analysis.training());
  EXPECT_EQ(origins.Of(s.Id("a")).context, 0u);
}

}  // namespace
}  // namespace vramscope::classify
