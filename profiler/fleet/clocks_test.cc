// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/clocks.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace vramscope::fleet {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;

// Twenty steps of one second each. The host's clock is ahead by `offset` and gains `drift_ppm`. Each step
// ends `late` after the other ranks' steps, +-0.2 ms.
RankSummary Trained(const std::string& host, int64_t offset, double drift_ppm = 0, int64_t late = 0,
                    uint32_t steps = 20) {
  RankSummary rank;
  rank.host = host;
  rank.start_realtime_ns = static_cast<uint64_t>(1'700'000'000 * kSecond + offset);
  for (uint32_t step = 1; step <= steps; ++step) {
    const int64_t ideal = step * kSecond + late + (step % 3 - 1) * kMillisecond / 5;
    const auto end =
        static_cast<uint64_t>(ideal + static_cast<int64_t>(drift_ppm * 1e-6 * static_cast<double>(ideal)));
    rank.steps.push_back({step, end - 900'000'000, end, 1, 0, 0});
  }
  return rank;
}

TEST(ClocksTest, HostsThreeSecondsApartAreAlignedWithinAMillisecond) {
  const Clocks clocks = AlignClocks({Trained("a", 0), Trained("a", 0), Trained("b", 3 * kSecond),
                                     Trained("b", 3 * kSecond), Trained("c", -2 * kSecond, 50)});
  ASSERT_EQ(clocks.hosts.size(), 3u);
  EXPECT_EQ(clocks.hosts[0].offset_ns, 0);
  EXPECT_LT(std::abs(clocks.hosts[1].offset_ns - 3 * kSecond), kMillisecond);
  EXPECT_NEAR(clocks.hosts[2].drift_ppm, 50, 5);
  for (const HostClock& clock : clocks.hosts) EXPECT_LT(clock.residual_ns, 1'000'000u) << clock.host;
  for (const Timing& timing : clocks.ranks) EXPECT_LT(std::abs(*timing.behind_ns), kMillisecond);
  EXPECT_NEAR(static_cast<double>(clocks.step_ns), 1e9, 1e7);
}

TEST(ClocksTest, ARankBehindTheOthersOfItsHostIsLate) {
  const Clocks clocks = AlignClocks({Trained("a", 0), Trained("a", 0), Trained("a", 0, 0, 3 * kSecond + 1),
                                     Trained("b", kSecond), Trained("b", kSecond)});
  EXPECT_NEAR(static_cast<double>(*clocks.ranks[2].behind_ns), 3e9, 2e6);
  EXPECT_EQ(clocks.ranks[2].steps_behind, 3u);
  EXPECT_EQ(clocks.ranks[0].steps_behind, 0u);
  EXPECT_LT(std::abs(*clocks.ranks[3].behind_ns), kMillisecond);
}

TEST(ClocksTest, AbsurdTimesAreNoTimes) {
  RankSummary absurd = Trained("b", 0);
  absurd.start_realtime_ns = UINT64_MAX;
  RankSummary steps = Trained("c", 0);
  for (StepFigures& step : steps.steps) step.end_ns = step.number % 2 == 0 ? UINT64_MAX : step.number;
  const Clocks clocks = AlignClocks({Trained("a", 0), absurd, steps});
  EXPECT_FALSE(clocks.ranks[1].behind_ns.has_value());
  EXPECT_EQ(clocks.hosts[2].drift_ppm, 0);
  EXPECT_LT(std::abs(*clocks.ranks[0].behind_ns), 20 * kSecond);
}

TEST(ClocksTest, RanksWithoutStepsOrTimesAreNotJudged) {
  RankSummary counted = Trained("a", 0);
  counted.counts_events = true;
  const Clocks clocks = AlignClocks({Trained("a", 0), counted, Trained("a", 0, 0, 0, 0)});
  EXPECT_TRUE(clocks.ranks[0].behind_ns.has_value());
  EXPECT_FALSE(clocks.ranks[1].behind_ns.has_value());
  EXPECT_FALSE(clocks.ranks[2].behind_ns.has_value());
  EXPECT_TRUE(AlignClocks({}).hosts.empty());
}

}  // namespace
}  // namespace vramscope::fleet
