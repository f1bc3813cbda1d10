// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/rank_strips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

constexpr uint64_t kStripMib = 1 << 20;

// One process per GPU, each with the given bytes at 10 ms times its number.
std::unique_ptr<Document> Job(const std::vector<uint64_t>& mib) {
  model::testing::Script s;
  for (size_t i = 0; i < mib.size(); ++i) {
    s.Process(static_cast<uint32_t>(100 + i)).Thread("main" + std::to_string(i));
    s.Device(trace::DeviceCode(1, static_cast<int>(i)));
    s.At((i + 1) * 10'000'000).Alloc("block" + std::to_string(i), mib[i] * kStripMib);
  }
  return MakeDocument("job.vms", s.Load(), nullptr);
}

TEST(RankStripsTest, OneGpuNeedsNoStrips) { EXPECT_TRUE(StripsOf(*Job({64})).empty()); }

TEST(RankStripsTest, RanksComeInTheirOrderAndTheOddOneIsMarked) {
  const auto document = Job({100, 101, 240, 100, 102});
  const std::vector<RankStrip> strips = StripsOf(*document);
  ASSERT_EQ(strips.size(), 5u);
  for (size_t i = 0; i < strips.size(); ++i) {
    EXPECT_EQ(strips[i].name, "rank " + std::to_string(i));
    EXPECT_EQ(strips[i].peak, document->devices[strips[i].device]->curve.peak().bytes);
    EXPECT_EQ(strips[i].stands_out.empty(), i != 2) << strips[i].name;
  }
  EXPECT_THAT(strips[2].stands_out, testing::HasSubstr("101.0 MiB"));
}

TEST(RankStripsTest, OfTwoThatDifferNeitherStandsOut) {
  for (const RankStrip& strip : StripsOf(*Job({100, 200}))) EXPECT_EQ(strip.stands_out, "");
}

TEST(RankStripsTest, AllHaveOneClock) {
  const auto document = Job({100, 200});
  RankStripsView view;
  view.Update(*document);
  const TimeView all(static_cast<double>(document->run->times.last_ns()));
  const auto first = view.Columns(0, all, 100);
  const auto second = view.Columns(1, all, 100);
  EXPECT_EQ(first[60], 100 * kStripMib) << "rank 0 allocates first";
  EXPECT_EQ(second[60], 0u);
  EXPECT_EQ(second[99], 200 * kStripMib) << "rank 1 at the end";
  EXPECT_EQ(view.top(), 200 * kStripMib);
}

}  // namespace
}  // namespace vramscope::viewer
