// SPDX-License-Identifier: Apache-2.0
// Programs of a framework that does not show what it saves for backward and that accumulates gradients in
// variables.
#include <gtest/gtest.h>

#include "profiler/classify/analysis.h"
#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::testing::Script;

Category AtBirth(const Script& s, const char* block) {
  const model::Run run = s.Load();
  return Analysis(run).categories().Of(s.Id(block))[0].category;
}

TEST(UnseenSavesTest, ABlockOfForwardThatBackwardMeetsIsAnActivation) {
  Script s;
  for (int step = 1; step <= 2; ++step) {
    s.Data([&] { s.Alloc("batch", 64); });
    s.Module("mlp", [&] { s.Alloc("hidden", 128).Alloc("scratch", 32).Free("scratch"); });
    s.Backward([&] { s.Alloc("gradient", 16).Free("hidden"); });
    s.Optimizer("Adam", [&] { s.Free("gradient"); });
    s.Free("batch");
  }
  EXPECT_EQ(AtBirth(s, "hidden"), Category::kActivation);
  EXPECT_EQ(AtBirth(s, "scratch"), Category::kTemporaryForward);
  EXPECT_EQ(AtBirth(s, "gradient"), Category::kTemporaryBackward);
}

TEST(UnseenSavesTest, AVariableThatAccumulatesAGradientIsOneFromItsAllocationOn) {
  Script s;
  s.Backward([&] { s.Alloc("accumulated", 128); });
  s.Optimizer("Adam", [] {});
  s.Label("accumulated", trace::Role::kGradient, trace::LabelSource::kModuleRegistry, "mlp/fc1/kernel");
  EXPECT_EQ(AtBirth(s, "accumulated"), Category::kGradient);
}

}  // namespace
}  // namespace vramscope::classify
