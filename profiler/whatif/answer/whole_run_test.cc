// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/whole_run.h"

#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Backward needs 30 MiB for a moment, and the optimizer needs 40 MiB, which do not fit in their place.
class WholeRunTest : public ::testing::Test {
 protected:
  void Record(uint64_t unseen = 0) {
    script_.Device(model::testing::kCuda0).TotalsAre(unseen, 72 * kMiB);
    script_.Alloc("weight", kWeightBytes).Parameter("weight", "weight");
    for (uint64_t step = 1; step <= 3; ++step) {
      if (step == 2) script_.Mark(trace::MarkKind::kDeepBegin, 2);
      script_.Data([&] { script_.Alloc("batch", kBatchBytes); });
      script_.Module("linear", [&] { script_.Op("aten::mm", [&] { script_.Alloc("out", kBatchBytes); }); });
      if (traced_) script_.Backward([] {}).Alloc("score", 35 * kMiB).Free("score");
      script_.Backward([&] {
        script_.Alloc("wide", 30 * kMiB).Free("wide").Free("out");
        if (traced_) script_.Alloc("gradient", kWeightBytes).Gradient("gradient", "weight").Free("gradient");
      });
      script_.Optimizer("SGD", [&] {
        if (falls_) {
          script_.Alloc("half", 20 * kMiB).Alloc("other", 20 * kMiB).Free("half").Free("other");
          script_.Alloc("less", 36 * kMiB).Free("less");
        } else {
          script_.Alloc("wider", 40 * kMiB).Free("wider");
        }
      });
      script_.Mark(trace::MarkKind::kOptimizerStepDone, step, "SGD");
      script_.Range(trace::RangeKind::kZeroGrad, "zero_grad", 0, [] {}).Free("batch");
    }
    run_ = script_.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
    baseline_ = MakeBaseline(step_, *analysis_).value();
  }
  [[nodiscard]] uint64_t ReservedWith(EmptyCacheAt where) const {
    return WholeRun(step_).Replay("", where).value().reserved_peak;
  }

  bool traced_ = false;  // forward has a backward pass of its own
  bool falls_ = false;   // fewer bytes are allocated after the peak, in memory that must be reserved for them
  model::testing::Script script_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  Step step_;
  Baseline baseline_;
};

TEST_F(WholeRunTest, ReachesTheRecordedPeaks) {
  Record();
  const WholeRun whole(step_);
  ASSERT_TRUE(whole.exact());
  EXPECT_EQ(whole.recorded().reserved_peak, 72 * kMiB);
  EXPECT_EQ(whole.recorded().allocated_peak, 40 * kMiB + kWeightBytes + kBatchBytes);
}

TEST_F(WholeRunTest, WhatWasReservedAtThePeakAndTheMostAreTwoFigures) {
  falls_ = true;
  Record();
  const Replayed all = WholeRun(step_).Replay("", EmptyCacheAt::kNever).value();
  EXPECT_EQ(all.reserved_then, 52 * kMiB) << "30 of backward, 20 more, small blocks";
  EXPECT_EQ(all.reserved_peak, 88 * kMiB) << "36 that fit into neither";
  const Replayed steps = ReplayScene(baseline_.scene, step_).value();
  EXPECT_EQ(steps.reserved_then, 52 * kMiB);
  EXPECT_EQ(steps.reserved_peak, 88 * kMiB);
}

TEST_F(WholeRunTest, ARunThatWasAttachedToIsNoWitness) {
  Record(4 * kMiB);
  EXPECT_FALSE(WholeRun(step_).exact());
}

TEST_F(WholeRunTest, TheCacheIsEmptiedInEachStep) {
  Record();
  EXPECT_EQ(ReservedWith(EmptyCacheAt::kNever), 72 * kMiB);
  EXPECT_EQ(ReservedWith(EmptyCacheAt::kBeforeBackward), 72 * kMiB);
  EXPECT_EQ(ReservedWith(EmptyCacheAt::kBeforeOptimizer), 42 * kMiB);
  EXPECT_EQ(ReservedWith(EmptyCacheAt::kAfterStep), 72 * kMiB);
}

TEST_F(WholeRunTest, TheCacheIsEmptiedBeforeThePassThatGivesGradients) {
  traced_ = true;
  Record();
  EXPECT_EQ(ReservedWith(EmptyCacheAt::kNever), 78 * kMiB) << "36 MiB, which the next one does not fit into";
  EXPECT_EQ(ReservedWith(EmptyCacheAt::kBeforeBackward), 72 * kMiB) << "in turn 36, 30 and 40";
}

TEST_F(WholeRunTest, AnswersWhereOnlyTheAllocatorIsToldSomethingElse) {
  Record();
  Predictor predictor(step_, baseline_);
  const Prediction settings = predictor.Predict({{"empty-cache", "before-optimizer"}}).value();
  EXPECT_EQ(settings.before.allocator.reserved_peak, 72 * kMiB);
  EXPECT_EQ(settings.after.allocator.reserved_peak, 42 * kMiB);
  EXPECT_EQ(settings.after.allocator.allocated_peak, settings.before.allocator.allocated_peak);

  const Prediction longer =
      Predictor(step_, baseline_, 1).Predict({{"empty-cache", "before-optimizer"}}).value();
  EXPECT_EQ(longer.before.allocator.reserved_peak, baseline_.use.allocator.reserved_peak);
}

TEST_F(WholeRunTest, RefusedSettingsAreNamed) {
  Record();
  EXPECT_FALSE(WholeRun(step_).Replay("max_split_size_mb:1", EmptyCacheAt::kNever).ok());
}

TEST_F(WholeRunTest, TheEndOfAStepIsBehindTheZeroGradThatFollows) {
  Record();
  const model::Process& process = run_.processes[0];
  uint32_t zeroed = 0;
  for (const uint32_t index : process.ranges) {
    const model::Range& range = run_.ranges[index];
    if (range.kind != trace::RangeKind::kOptimizer) continue;
    const model::EventIndex after = AfterZeroGrad(run_, 0, range.end);
    zeroed += after > range.end ? 1 : 0;
    EXPECT_LT(after, range.end + 4);
  }
  EXPECT_EQ(zeroed, 3u);
  // The first thing after backward is the optimizer.
  for (const uint32_t index : process.ranges) {
    const model::Range& range = run_.ranges[index];
    if (range.kind != trace::RangeKind::kBackward) continue;
    EXPECT_EQ(AfterZeroGrad(run_, 0, range.end), range.end);
  }
}

}  // namespace
}  // namespace vramscope::whatif
