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
  const auto rate = [] {
    const uint64_t ns = MonotonicNs(), ticks = Ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const uint64_t ticks_after = Ticks(), ns_after = MonotonicNs();
    return static_cast<double>(ticks_after - ticks) / static_cast<double>(ns_after - ns);
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
