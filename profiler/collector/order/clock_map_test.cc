// SPDX-License-Identifier: Apache-2.0
// Oracle: CLOCK_MONOTONIC itself, and straight lines computed by hand.
#include "profiler/collector/order/clock_map.h"

#include <gtest/gtest.h>

#include <random>

namespace vramscope::collector {
namespace {

using trace::ClockKind;

TEST(ClockMapTest, TicksBetweenTwoAnchorsLieOnTheLineBetweenThem) {
  ClockMap map({1000, 500});
  map.Add({3000, 1500});
  EXPECT_EQ(map.ToMonotonicNs(ClockKind::kTsc, 1000), 500U);
  EXPECT_EQ(map.ToMonotonicNs(ClockKind::kTsc, 2000), 1000U);
  EXPECT_EQ(map.ToMonotonicNs(ClockKind::kTsc, 3000), 1500U);
  EXPECT_EQ(map.ToMonotonicNs(ClockKind::kTsc, 5000), 2500U) << "the last slope goes on";
  EXPECT_EQ(map.ToMonotonicNs(ClockKind::kTsc, 500), 250U) << "the first slope goes back";
}

TEST(ClockMapTest, MonotonicClocksAreTakenAsTheyAre) {
  const ClockMap map({1000, 500});
  EXPECT_EQ(map.ToMonotonicNs(ClockKind::kMonotonic, 123), 123U);
}

TEST(ClockMapTest, AnAnchorThatGoesBackIsIgnored) {
  ClockMap map({1000, 500});
  map.Add({2000, 1000});
  map.Add({1500, 2000});
  map.Add({3000, 900});
  EXPECT_EQ(map.ToMonotonicNs(ClockKind::kTsc, 4000), 2000U);
}

TEST(ClockMapTest, NeverRunsBackwardsWhateverTheAnchorsJitter) {
  std::mt19937_64 random(20);
  ClockMap map({0, 0});
  ClockAnchor anchor;
  for (int i = 0; i < 1000; ++i) {
    anchor.ticks += 1'000'000 + random() % 1'000'000;
    anchor.monotonic_ns = anchor.ticks * 10 / 26 + random() % 50;
    map.Add(anchor);
  }
  uint64_t last = 0;
  for (uint64_t ticks = 0; ticks < anchor.ticks + 10'000'000; ticks += 9'973) {
    const uint64_t ns = map.ToMonotonicNs(ClockKind::kTsc, ticks);
    ASSERT_GE(ns, last) << "at tick " << ticks << ", seed 20";
    last = ns;
  }
}

TEST(ClockMapTest, NonsenseTicksNeitherOverflowNorCrash) {
  ClockMap map({1000, 500});
  map.Add({3000, 1500});
  EXPECT_GT(map.ToMonotonicNs(ClockKind::kTsc, UINT64_MAX), uint64_t{1} << 60);
  EXPECT_EQ(ClockMap({1000, 500}).ToMonotonicNs(ClockKind::kTsc, UINT64_MAX), 500U);
  ClockMap steep({1'000'000, 10});
  steep.Add({1'000'001, 1'000'000'000});
  EXPECT_EQ(steep.ToMonotonicNs(ClockKind::kTsc, 0), 0U);
}

TEST(ClockMapTest, AMomentBetweenTwoRealAnchorsIsTheMomentOfTheKernelsClock) {
  ClockMap map(TakeAnchor());
  const uint64_t begin = MonotonicNs();
  while (MonotonicNs() - begin < 2'000'000) {
  }
  const ClockAnchor middle = TakeAnchor();
  while (MonotonicNs() - begin < 4'000'000) {
  }
  map.Add(TakeAnchor());
  const auto mapped = static_cast<double>(map.ToMonotonicNs(ClockKind::kTsc, middle.ticks));
  EXPECT_NEAR(mapped, static_cast<double>(middle.monotonic_ns), 20'000.0);
}

}  // namespace
}  // namespace vramscope::collector
