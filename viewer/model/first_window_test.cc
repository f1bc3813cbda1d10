// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/first_window.h"

#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;

// One step that begins at `begin_ns`; its optimizer step follows after `ns`.
void Step(model::testing::Script& s, uint64_t begin_ns, uint64_t ns, uint64_t bytes) {
  s.At(begin_ns).Data([&] { s.Alloc("batch", bytes); });
  s.Alloc("hidden", bytes).Saved("hidden");
  s.At(begin_ns + ns / 2).Backward([&] { s.Released("hidden").Free("hidden"); });
  s.At(begin_ns + ns).Optimizer("SGD", [&] { s.Alloc("t", 8).Free("t"); }).Free("batch");
}

std::pair<double, double> WindowOf(const model::testing::Script& s) {
  const auto document = MakeDocument("run.vms", s.Load(), nullptr);
  return FirstWindow(*document, *document->devices[0]);
}

TEST(FirstWindowTest, BeginsWithTheStepsAndNotWithTheSecondsBeforeThem) {
  model::testing::Script s;
  s.At(kSecond).Alloc("weight", 400).Parameter("weight", "w");
  for (uint64_t i = 0; i < 4; ++i) Step(s, 40 * kSecond + i * 10 * kMs, 9 * kMs, 4096);
  s.At(90 * kSecond).Free("weight");
  const auto [begin, end] = WindowOf(s);
  EXPECT_GT(begin, 39.9 * kSecond);
  EXPECT_LE(begin, 40.0 * kSecond);
  EXPECT_GE(end, 40.0 * kSecond + 39 * kMs);
  EXPECT_LT(end, 41.0 * kSecond) << "what follows the last step is left out";
}

TEST(FirstWindowTest, AFirstStepThatIsLongerThanAllOthersIsCut) {
  model::testing::Script s;
  s.At(kSecond).Alloc("weight", 400).Parameter("weight", "w");
  Step(s, 10 * kSecond, 20 * kSecond, 64);
  for (uint64_t i = 0; i < 4; ++i) Step(s, 31 * kSecond + i * 10 * kMs, 9 * kMs, 4096);
  const auto [begin, end] = WindowOf(s);
  EXPECT_GT(begin, 29.0 * kSecond);
  EXPECT_LT(begin, 31.0 * kSecond) << "its end is shown";
  EXPECT_GE(end, 31.0 * kSecond + 39 * kMs);
}

TEST(FirstWindowTest, APeakBetweenTheStepsAndTheEndIsShownIfItIsNear) {
  model::testing::Script s;
  for (uint64_t i = 0; i < 4; ++i) Step(s, 10 * kSecond + i * 10 * kMs, 9 * kMs, 4096);
  s.At(10 * kSecond + 60 * kMs).Alloc("validation", 1 << 20).Free("validation");
  s.At(30 * kSecond).Alloc("late", 8);
  const auto [begin, end] = WindowOf(s);
  EXPECT_GT(end, 10.0 * kSecond + 60 * kMs);
  EXPECT_LT(end, 11.0 * kSecond);
  EXPECT_LE(begin, 10.0 * kSecond);
}

TEST(FirstWindowTest, WithoutStepsItIsWhereMemoryChanges) {
  model::testing::Script s;
  s.At(50 * kSecond).Alloc("a", 8).At(51 * kSecond).Free("a");
  s.At(100 * kSecond).Mark(trace::MarkKind::kUser, 0, "end");
  const auto [begin, end] = WindowOf(s);
  EXPECT_NEAR(begin, 50e9, 0.1e9);
  EXPECT_NEAR(end, 51e9, 0.1e9);
}

}  // namespace
}  // namespace vramscope::viewer
