// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/curve.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/model/testing/script.h"

namespace vramscope::timeline {
namespace {

using model::EventIndex;
using model::testing::kCuda0;
using model::testing::Script;

// Oracle: adding up the events of the trace one by one.
TEST(DeviceCurveTest, TotalsAndPeaksOfARandomStreamAreThoseOfAPlainSum) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Script s;
  s.Alloc("first", 3);
  std::vector<std::string> live;
  for (int i = 0; i < 4'000; ++i) {
    if (live.size() < 40 && random() % 2 == 0) {
      live.push_back("b" + std::to_string(i));
      s.Alloc(live.back(), 1 + random() % 1'000);
    } else if (!live.empty()) {
      const size_t victim = random() % live.size();
      s.Free(live[victim]);
      live.erase(live.begin() + static_cast<ptrdiff_t>(victim));
    }
    if (random() % 10 == 0) s.Mark(trace::MarkKind::kUser);
  }
  const auto run = s.Load();
  const DeviceCurve curve(run, 0);

  std::vector<uint64_t> totals;
  uint64_t total = 0;
  model::BlockId next = 0;
  for (EventIndex e = 0; e < run.event_count(); ++e) {
    if (next < run.blocks.size() && run.blocks[next].alloc_event == e) total += run.blocks[next++].size;
    for (const auto& block : run.blocks) {
      if (block.free_event == e) total -= block.size;
    }
    totals.push_back(total);
    ASSERT_EQ(curve.AllocatedAfter(e), total) << e;
  }
  EXPECT_EQ(curve.peak().bytes, *std::max_element(totals.begin(), totals.end()));
  EXPECT_EQ(totals[curve.peak().event], curve.peak().bytes);
  for (int i = 0; i < 500; ++i) {
    const EventIndex begin = random() % totals.size();
    const EventIndex end = begin + 1 + random() % (totals.size() - begin);
    const auto highest = std::max_element(totals.begin() + begin, totals.begin() + end);
    const Peak peak = curve.PeakWithin(begin, end);
    ASSERT_EQ(peak.bytes, *highest) << begin << ".." << end;
    ASSERT_EQ(peak.event, highest - totals.begin());
  }
}

TEST(DeviceCurveTest, BytesFromBeforeTheRecordingCountFromTheFirstEventOn) {
  Script s;
  s.Device(kCuda0).TotalsAre(5'000, 20'000).Alloc("a", 100).TotalsAre(5'000, 40'000).Alloc("b", 50).Free("a");
  const auto run = s.Load();
  const DeviceCurve curve(run, 0);
  EXPECT_EQ(curve.AllocatedAfter(0), 5'100u);
  EXPECT_EQ(curve.UnseenAfter(0), 5'000u);
  EXPECT_EQ(curve.AllocatedAfter(model::kNever), 5'050u);
  EXPECT_EQ(curve.peak().bytes, 5'150u);
  EXPECT_EQ(curve.ReservedAfter(0), 20'000u);
  EXPECT_EQ(curve.peak_reserved(), 40'000u);
}

TEST(DeviceCurveTest, ADeviceThatNeverSaysWhatItReservesHasNoReservedBytes) {
  Script s;
  s.Alloc("a", 100);
  const auto run = s.Load();
  EXPECT_EQ(DeviceCurve(run, 0).ReservedAfter(0), std::nullopt);
  EXPECT_EQ(DeviceCurve(run, 0).peak_reserved(), std::nullopt);
}

}  // namespace
}  // namespace vramscope::timeline
