// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/address_map.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "viewer/model/live_table.h"
#include "viewer/model/testing/training_document.h"

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

// A map that moves from moment to moment and keeps its facts about blocks that stay.
class MovedTest : public testing::Test {
 protected:
  MovedTest() {
    document_ = TrainingDocument();
    device_ = document_->devices[0].get();
    layout_ = MakeLayout(*document_, device_->index);
  }
  // Calls compare(event) for random moments, far ones and near ones.
  void AtMoments(const std::function<void(model::EventIndex)>& compare) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const model::EventIndex events = document_->run->event_count();
    for (int round = 0; round < 12 && !HasFailure(); ++round) {
      const model::EventIndex from = random() % events;
      for (model::EventIndex step = 0; step < 20 && !HasFailure(); ++step)
        compare(std::min(from + 3 * step, events - 1));
    }
  }

  std::unique_ptr<Document> document_;
  const DeviceView* device_ = nullptr;
  std::unique_ptr<LayoutView> layout_;
};

TEST_F(MovedTest, AMapThatMovedEqualsOneThatBeginsThere) {
  ASSERT_TRUE(layout_->walk);
  AddressMap moved;
  size_t titled = 0;
  AtMoments([&](model::EventIndex event) {
    moved.Update(*document_, *device_, *layout_, event, Coloring::kCategory);
    AddressMap fresh;
    fresh.Update(*document_, *device_, *layout_, event, Coloring::kCategory);
    ASSERT_EQ(moved.segments().size(), fresh.segments().size());
    for (size_t i = 0; i < fresh.segments().size(); ++i) {
      const std::vector<MapBlock>& have = moved.segments()[i].blocks;
      const std::vector<MapBlock>& want = fresh.segments()[i].blocks;
      ASSERT_EQ(have.size(), want.size());
      for (size_t k = 0; k < want.size(); ++k) {
        ASSERT_EQ(have[k].block, want[k].block) << "event " << event;
        ASSERT_EQ(have[k].title, want[k].title) << "event " << event;
        ASSERT_EQ(have[k].category, want[k].category) << "event " << event;
        titled += want[k].title.empty() ? 0 : 1;
      }
    }
  });
  EXPECT_GT(titled, 0u);
}

TEST_F(MovedTest, ATableThatMovedEqualsOneThatBeginsThere) {
  LiveTable moved;
  size_t rows = 0;
  AtMoments([&](model::EventIndex event) {
    moved.Update(*document_, *device_, event, "");
    LiveTable fresh;
    fresh.Update(*document_, *device_, event, "");
    ASSERT_EQ(moved.ToCsv(), fresh.ToCsv()) << "event " << event;
    rows += fresh.rows().size();
  });
  EXPECT_GT(rows, 0u);
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
