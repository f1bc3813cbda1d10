// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "profiler/classify/analysis.h"
#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::testing::Script;

TEST(OptimizerStateTest, InTheOnlyStepItIsWhatTheOptimizerKeeps) {
  for (const bool labels : {false, true}) {
    Script s;
    s.Alloc("x", 8).Saved("x");
    s.Backward([&] { s.Released("x").Free("x"); });
    s.Optimizer("Adam", [&] { s.Alloc("moment", 40).Alloc("scratch", 40).Free("scratch").Alloc("rate", 4); });
    if (labels)
      s.Label("moment", trace::Role::kOptimizerState, trace::LabelSource::kOptimizer, "exp_avg of w");
    s.Free("rate");
    const model::Run run = s.Load();
    const Analysis analysis(run);
    const auto category = [&](const char* block) {
      return analysis.categories().Of(s.Id(block))[0].category;
    };
    EXPECT_EQ(category("moment"), Category::kOptimizerState);
    EXPECT_EQ(category("scratch"), Category::kTemporaryOptimizer);
    EXPECT_EQ(category("rate"), labels ? Category::kTemporaryOptimizer : Category::kOptimizerState)
        << "labels tell more";
  }
}

}  // namespace
}  // namespace vramscope::classify
