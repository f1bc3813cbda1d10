// SPDX-License-Identifier: Apache-2.0
// Oracle: loops written in PyTorch's order of operations. A batch is prepared; the work on it is forward.
#include "profiler/timeline/forward_begin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/timeline/testing/loop.h"
#include "profiler/timeline/training.h"

namespace vramscope::timeline {
namespace {

using testing::Loop;
using trace::MarkKind;

// The part of its step in which a block was allocated.
class Parts {
 public:
  explicit Parts(Loop& loop) : loop_(loop), run_(loop.s.Load()), training_(FindTraining(run_, 0)) {}

  [[nodiscard]] Part Of(const std::string& block) const {
    return training_.SpanAt(run_.blocks[loop_.s.Id(block)].alloc_event).part;
  }
  [[nodiscard]] bool IsDeep(int step) const { return training_.steps()[static_cast<size_t>(step) - 1].deep; }

 private:
  Loop& loop_;
  model::Run run_;
  Training training_;
};

TEST(ForwardBeginTest, DeepStepsTeachTheLightOnesWhereForwardBegins) {
  Loop loop;
  for (int step = 1; step <= 4; ++step) {
    const bool deep = step == 2;
    if (deep) loop.s.Mark(MarkKind::kDeepBegin, 2);
    if (step == 3) loop.s.Mark(MarkKind::kDeepEnd);
    loop.s.Alloc("batch" + std::to_string(step), 64);
    if (step == 4) loop.Work();  // an evaluation that other steps do not have
    const auto forward = [&] {
      loop.s.Alloc("first" + std::to_string(step), 8);  // before anything is saved
      loop.Forward();
    };
    deep ? (void)loop.s.Module("net", forward) : forward();
    loop.Backward();
    loop.Optimizer();
  }
  const Parts parts(loop);
  for (int step = 1; step <= 4; ++step) {
    const std::string number = std::to_string(step);
    EXPECT_EQ(parts.Of("batch" + number), Part::kPrepare) << step;
    EXPECT_EQ(parts.Of("first" + number), Part::kForward) << step;
    EXPECT_EQ(parts.IsDeep(step), step == 2) << step;
  }
}

// self._table = values / counts.clamp(min=1), at the first use: a cache, and a temporary.
TEST(ForwardBeginTest, WhatTheFirstForwardCachesDoesNotMoveItsBegin) {
  Loop loop;
  for (int step = 1; step <= 3; ++step) {
    const bool deep = step == 2;
    const std::string number = std::to_string(step);
    if (deep) loop.s.Mark(MarkKind::kDeepBegin, 2);
    if (step == 3) loop.s.Mark(MarkKind::kDeepEnd);
    loop.s.Alloc("batch" + number, 64);
    const auto forward = [&] {
      loop.s.Alloc("first" + number, 8).Alloc("second" + number, 16);
      if (step == 1) loop.s.Alloc("clamped", 32).Alloc("table", 24).Free("clamped");
      loop.Forward();
    };
    deep ? (void)loop.s.Module("net", forward) : forward();
    loop.Backward();
    loop.Optimizer();
  }
  const Parts parts(loop);
  EXPECT_EQ(parts.Of("batch1"), Part::kPrepare);
  EXPECT_EQ(parts.Of("first1"), Part::kForward);
  EXPECT_EQ(parts.Of("table"), Part::kForward);
}

// Two models in turn, as in a cross-validation: the second has a longer forward.
TEST(ForwardBeginTest, TheNearestDeepStepsTeach) {
  Loop loop;
  for (int step = 1; step <= 8; ++step) {
    const bool deep = step == 2 || step == 6;
    if (deep) loop.s.Mark(MarkKind::kDeepBegin, step);
    if (step == 3 || step == 7) loop.s.Mark(MarkKind::kDeepEnd);
    const std::string number = std::to_string(step);
    loop.s.Alloc("batch" + number, 64);
    const auto forward = [&] {
      loop.s.Alloc("first" + number, 8);
      for (int more = 0; step > 4 && more < 3; ++more)
        loop.s.Alloc("more" + number + "." + std::to_string(more), 8);
      loop.Forward();
    };
    deep ? (void)loop.s.Module("net", forward) : forward();
    loop.Backward();
    loop.Optimizer();
  }
  const Parts parts(loop);
  for (int step = 1; step <= 8; ++step) {
    EXPECT_EQ(parts.Of("batch" + std::to_string(step)), Part::kPrepare) << step;
    EXPECT_EQ(parts.Of("first" + std::to_string(step)), Part::kForward) << step;
  }
}

TEST(ForwardBeginTest, AutocastBeginsForwardBeforeTheFirstSave) {
  Loop loop;
  loop.s.Alloc("batch", 8).Autocast([&] {
    loop.s.Alloc("cast", 8);
    loop.Forward();
  });
  loop.Backward();
  loop.Optimizer();
  const Parts parts(loop);
  EXPECT_EQ(parts.Of("batch"), Part::kPrepare);
  EXPECT_EQ(parts.Of("cast"), Part::kForward);
}

// The first step also creates the loss scale between forward and backward, so counting back from backward
// falls short.
TEST(ForwardBeginTest, AnAutocastRegionThatIsTheForwardInDeepStepsIsItInLightOnes) {
  Loop loop;
  for (int step = 1; step <= 3; ++step) {
    const bool deep = step == 2;
    const std::string number = std::to_string(step);
    if (deep) loop.s.Mark(MarkKind::kDeepBegin, 2);
    if (step == 3) loop.s.Mark(MarkKind::kDeepEnd);
    loop.s.Alloc("batch" + number, 64);
    const auto forward = [&] {
      loop.s.Alloc("cast" + number, 8);
      loop.Forward();
    };
    loop.s.Autocast([&] { deep ? (void)loop.s.Module("net", forward) : forward(); });
    if (step == 1) loop.s.Alloc("scale", 4).Alloc("tracker", 4);
    loop.Backward();
    loop.Optimizer();
  }
  const Parts parts(loop);
  for (const std::string step : {"1", "2", "3"}) {
    EXPECT_EQ(parts.Of("batch" + step), Part::kPrepare) << step;
    EXPECT_EQ(parts.Of("cast" + step), Part::kForward) << step;
  }
}

}  // namespace
}  // namespace vramscope::timeline
