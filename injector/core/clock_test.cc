// SPDX-License-Identifier: Apache-2.0
#include "injector/core/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace vramscope::injector {
namespace {

TEST(ClockTest, TicksNeverGoBackOnAThread) {
  ChooseClock(false);
  uint64_t last = 0;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t now = i % 2 == 0 ? Ticks() : TicksAfterAll();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockTest, TicksRunAtOneRateAgainstTheMonotonicClock) {
  ChooseClock(false);
  struct Instant {
    uint64_t ns, ticks;
  };
  const auto now = [] {  // both at once: a busy machine may let time pass between two lines
    for (;;) {
      const uint64_t before = MonotonicNs(), ticks = Ticks(), after = MonotonicNs();
      if (after - before < 20'000) return Instant{before + (after - before) / 2, ticks};
    }
  };
  const auto rate = [&] {
    const Instant begin = now();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Instant end = now();
    return static_cast<double>(end.ticks - begin.ticks) / static_cast<double>(end.ns - begin.ns);
  };
  const double first = rate(), second = rate();
  EXPECT_NEAR(first / second, 1.0, 0.01);
}

TEST(ClockTest, AskedForTheMonotonicClockItGivesNanoseconds) {
  ChooseClock(true);
  EXPECT_EQ(clock_kind, trace::ClockKind::kMonotonic);
  const uint64_t before = MonotonicNs(), ticks = Ticks(), after = MonotonicNs();
  EXPECT_GE(ticks, before);
  EXPECT_LE(ticks, after);
  ChooseClock(false);
}

}  // namespace
}  // namespace vramscope::injector
