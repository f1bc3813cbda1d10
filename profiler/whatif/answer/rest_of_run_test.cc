// SPDX-License-Identifier: Apache-2.0
// Oracle: the sizes at each moment of a hand-written run, added up by hand.
#include "profiler/whatif/answer/rest_of_run.h"

#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;
constexpr uint64_t kWeight = 8 * kMebibyte;
constexpr uint64_t kOut = 40 * kMebibyte;

// Three steps of one linear layer, the second deep; the test chooses what else the run does.
class RestOfRunTest : public ::testing::Test {
 protected:
  void Step(uint64_t number, uint64_t out = kOut) {
    if (number == 2) script_.Mark(trace::MarkKind::kDeepBegin, 2);
    if (number == 3) script_.Mark(trace::MarkKind::kDeepEnd);
    script_.Data([&] { script_.Alloc("batch", kMebibyte); });
    script_.Module("linear", [&] { script_.Op("aten::mm", [&] { script_.Alloc("out", out); }); });
    script_.Backward([&] { script_.Free("out").Alloc("gradient", kWeight).Gradient("gradient", "weight"); });
    script_.Optimizer("SGD", [] {});
    script_.Mark(trace::MarkKind::kOptimizerStepDone, number, "SGD");
    script_.Range(trace::RangeKind::kZeroGrad, "zero_grad", 0, [&] { script_.Free("gradient"); })
        .Free("batch");
  }
  void Begin() {
    script_.Device(model::testing::kCuda0).TotalsAre(0, 200 * kMebibyte);
    script_.Alloc("weight", kWeight).Parameter("weight", "weight");
  }
  Baseline Read() {
    run_ = script_.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
    return MakeBaseline(step_, *analysis_).value();
  }

  model::testing::Script script_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  whatif::Step step_;
};

TEST_F(RestOfRunTest, OfARunThatIsItsStepsTheStepDecides) {
  Begin();
  for (uint64_t step = 1; step <= 3; ++step) Step(step);
  const Baseline baseline = Read();
  EXPECT_EQ(baseline.use.place, "");
  EXPECT_EQ(baseline.use.allocator.allocated_peak, baseline.step.allocated_peak);
}

TEST_F(RestOfRunTest, AnEvaluationAfterTheLoopBoundsWhatAChangeSaves) {
  Begin();
  for (uint64_t step = 1; step <= 3; ++step) Step(step);
  for (int i = 0; i < 10; ++i) script_.Alloc("prediction" + std::to_string(i), 10 * kMebibyte);
  const Baseline baseline = Read();
  EXPECT_EQ(baseline.use.allocator.allocated_peak, kWeight + 100 * kMebibyte);
  EXPECT_GE(baseline.use.allocator.reserved_peak, kWeight + 100 * kMebibyte);
  EXPECT_EQ(baseline.use.place, "after step 3");
  const Prediction half = Predict(step_, baseline, {{"optimizer", "sgd"}}).value();
  EXPECT_EQ(half.before.allocator.allocated_peak, kWeight + 100 * kMebibyte);
  EXPECT_EQ(half.after.allocator.allocated_peak, kWeight + 100 * kMebibyte)
      << "no change to the step lowers it";
  EXPECT_EQ(half.after.place, "after step 3");
}

TEST_F(RestOfRunTest, WhatTheModelIsBuiltOfIsInTheStepsOwnReplay) {
  Begin();
  script_.Alloc("checkpoint", 300 * kMebibyte).Free("checkpoint");
  for (uint64_t step = 1; step <= 3; ++step) Step(step);
  const Baseline baseline = Read();
  EXPECT_EQ(baseline.use.allocator.allocated_peak, kWeight + 300 * kMebibyte);
  EXPECT_EQ(Predict(step_, baseline, {{"optimizer", "sgd"}})->after.allocator.allocated_peak,
            kWeight + 300 * kMebibyte);
}

}  // namespace
}  // namespace vramscope::whatif
