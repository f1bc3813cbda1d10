// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/address_map.h"

#include <gtest/gtest.h>

#include <random>

#include "viewer/model/live_table.h"

namespace vramscope::viewer {
namespace {

TEST(AddressMapPageTest, EveryByteOfEverySegmentHasItsPlaceAndAllRowsAreUsed) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<MapSegment> segments(std::uniform_int_distribution<size_t>(1, 60)(random));
    for (MapSegment& segment : segments) segment.bytes = uint64_t{2} << (20 + random() % 10);
    const size_t rows = 1 + random() % 30;
    const double width = 200 + random() % 1500;
    const MapPage page = LayOut(segments, width, rows, 3);
    std::vector<uint64_t> placed(segments.size(), 0);
    size_t row = 0;
    double x = 0;
    for (const MapStrip& strip : page.strips) {
      ASSERT_EQ(strip.begin, placed[strip.segment]) << "a gap or an overlap within a segment";
      placed[strip.segment] = strip.end;
      ASSERT_LT(strip.row, rows);
      ASSERT_TRUE(strip.row > row || strip.x >= x - 1e-6) << "strips overlap";
      row = strip.row;
      x = strip.x + static_cast<double>(strip.end - strip.begin) / page.bytes_per_pixel;
      ASSERT_LE(x, width + 1);
    }
    for (size_t i = 0; i < segments.size(); ++i) ASSERT_EQ(placed[i], segments[i].bytes);
    ASSERT_GE(row + 2, rows) << "a larger scale would fit";
  }
}

TEST(RowFilterTest, WordsMustAllHold) {
  LiveRow row;
  row.bytes = 2 << 20;
  row.step = 3;
  row.category = classify::Category::kActivation;
  row.module = "layers.3.mlp";
  row.op = "aten::gelu";
  const auto matches = [&](const char* text) {
    const Result<RowFilter> filter = RowFilter::Parse(text);
    EXPECT_TRUE(filter.ok()) << text;
    return filter.ok() && filter.value().Matches(row);
  };
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("category:activation size>1MiB module:layers.3*"));
  EXPECT_FALSE(matches("category:activation size>2MiB"));
  EXPECT_TRUE(matches("size:2mib"));
  EXPECT_TRUE(matches("step>2 step<4 aten::gelu"));
  EXPECT_FALSE(matches("module:layers.3"));  // the whole name
  EXPECT_TRUE(matches("MLP gelu"));
  EXPECT_FALSE(matches("MLP relu"));
  for (const char* wrong : {"size>many", "step:x", "category>activation", "foo>3"})
    EXPECT_FALSE(RowFilter::Parse(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace vramscope::viewer
