// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/rank_strips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

constexpr uint64_t kStripMib = 1 << 20;

// One process per GPU, each with the given bytes at 10 ms times its number.
std::unique_ptr<Document> Job(const std::vector<uint64_t>& mib, uint64_t started_ns = 0) {
  model::testing::Script s;
  s.trace().SetClock({started_ns, 0});
  for (size_t i = 0; i < mib.size(); ++i) {
    s.Process(static_cast<uint32_t>(100 + i)).Thread("main" + std::to_string(i));
    s.Device(trace::DeviceCode(1, static_cast<int>(i)));
    s.At((i + 1) * 10'000'000).Alloc("block" + std::to_string(i), mib[i] * kStripMib);
  }
  return MakeDocument("job.vms", s.Load(), nullptr);
}

TEST(RankStripsTest, OneGpuNeedsNoStrips) {
  const auto document = Job({64});
  EXPECT_TRUE(StripsOf({document.get()}, 0).empty());
}

TEST(RankStripsTest, RanksComeInTheirOrderAndTheOddOneIsMarked) {
  const auto document = Job({100, 101, 240, 100, 102});
  const std::vector<RankStrip> strips = StripsOf({document.get()}, 0);
  ASSERT_EQ(strips.size(), 5u);
  for (size_t i = 0; i < strips.size(); ++i) {
    EXPECT_EQ(strips[i].name, "rank " + std::to_string(i));
    EXPECT_EQ(strips[i].peak, document->devices[strips[i].device]->curve.peak().bytes);
    EXPECT_EQ(strips[i].stands_out.empty(), i != 2) << strips[i].name;
  }
  EXPECT_THAT(strips[2].stands_out, testing::HasSubstr("101.0 MiB"));
}

TEST(RankStripsTest, OfTwoThatDifferNeitherStandsOut) {
  const auto document = Job({100, 200});
  for (const RankStrip& strip : StripsOf({document.get()}, 0)) EXPECT_EQ(strip.stands_out, "");
}

TEST(RankStripsTest, AllHaveOneClock) {
  const auto document = Job({100, 200});
  RankStripsView view;
  view.Update({document.get()}, 0);
  const TimeView all(static_cast<double>(document->run->times.last_ns()));
  const auto first = view.Columns(0, all, 100);
  const auto second = view.Columns(1, all, 100);
  EXPECT_EQ(first[60], 100 * kStripMib) << "rank 0 allocates first";
  EXPECT_EQ(second[60], 0u);
  EXPECT_EQ(second[99], 200 * kStripMib) << "rank 1 at the end";
  EXPECT_EQ(view.top(), 200 * kStripMib);
}

TEST(RankStripsTest, FilesOfOneJobShareAClock) {
  constexpr uint64_t kStart = 1'700'000'000'000'000'000;
  const auto first = Job({100, 110}, kStart);                // until 20 ms
  const auto second = Job({120, 130}, kStart + 5'000'000);   // from 5 to 25 ms
  const auto another = Job({500}, kStart + 60'000'000'000);  // a minute later
  const auto copy = Job({100, 110}, kStart);
  const std::vector<const Document*> files = {first.get(), nullptr, second.get(), another.get(), copy.get()};
  const auto strips = StripsOf(files, 0);
  ASSERT_EQ(strips.size(), 4u);
  const TimeView all(static_cast<double>(first->run->times.last_ns()));
  for (const RankStrip& strip : strips) {
    ASSERT_TRUE(strip.file == 0 || strip.file == 2) << strip.title;
    const uint64_t peak = strip.document->devices[strip.device]->curve.peak().bytes;
    EXPECT_EQ(strip.peak, peak);
    if (strip.file == 0 || peak != 120 * kStripMib) continue;
    EXPECT_EQ(strip.later_ns, -5e6);
    const auto columns = StripColumns(strip, all, 20);  // of a millisecond
    EXPECT_EQ(columns[13], 0u) << "it allocates 10 ms after its start";
    EXPECT_EQ(columns[16], peak);
    EXPECT_EQ(columns[2], 0u) << "before its start";
  }
  EXPECT_EQ(StripsOf(files, 3).size(), 0u) << "a run of another time stands alone";
}

}  // namespace
}  // namespace vramscope::viewer
