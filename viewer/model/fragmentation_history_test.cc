// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/fragmentation_history.h"

#include <gtest/gtest.h>

#include <random>

namespace vramscope::viewer {
namespace {

using fragmentation::SeriesPoint;

// Oracle: each column asks every point.
TEST(FragmentationHistoryTest, EachColumnShowsTheWorstPointThatHoldsInIt) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<SeriesPoint> points(1 + random() % 200);
    uint64_t time = random() % 100;
    for (SeriesPoint& point : points) {
      point.time_ns = time += random() % 50;
      point.causes.pinned = random() % 1000;
    }
    TimeView view(10'000);
    const auto left = static_cast<double>(random() % 3000);
    view.Show(left, left + TimeView::kShortest + static_cast<double>(random() % 5000));
    const size_t columns = 1 + random() % 300;
    const auto drawn = ColumnsOf(points, view, columns);
    ASSERT_EQ(drawn.size(), columns);
    for (size_t i = 0; i < columns; ++i) {
      const double from = view.TimeAt(static_cast<double>(i) / static_cast<double>(columns));
      const double to = view.TimeAt(static_cast<double>(i + 1) / static_cast<double>(columns));
      const SeriesPoint* worst = nullptr;
      for (size_t p = 0; p < points.size(); ++p) {
        const bool begun = static_cast<double>(points[p].time_ns) < to;
        const bool over = p + 1 < points.size() && static_cast<double>(points[p + 1].time_ns) <= from;
        if (begun && !over && (worst == nullptr || points[p].causes.Sum() > worst->causes.Sum()))
          worst = &points[p];
      }
      ASSERT_EQ(drawn[i] == nullptr, worst == nullptr);
      if (worst != nullptr) {
        ASSERT_EQ(drawn[i]->causes.Sum(), worst->causes.Sum());
      }
    }
  }
}

// 2 MiB blocks in 20 MiB segments, every second one freed: what is free is pinned by the rest.
TEST(FragmentationHistoryTest, TheSeriesAndTheTrialsAreThoseOfTheLibrary) {
  LayoutView layout;
  allocator::History& history = layout.subject.history;
  constexpr uint64_t kMebi = 1 << 20;
  const auto add = [&](allocator::Action action, uint64_t address, uint64_t bytes) {
    allocator::Event event;
    event.action = action;
    event.address = address;
    event.bytes = bytes;
    event.time_ns = 10 * (history.events.size() + 1);
    history.events.push_back(event);
  };
  add(allocator::Action::kSegmentAlloc, 0x1000'0000, 20 * kMebi);
  for (uint64_t i = 0; i < 10; ++i) add(allocator::Action::kAlloc, 0x1000'0000 + i * 2 * kMebi, 2 * kMebi);
  for (uint64_t i = 0; i < 10; i += 2) {
    add(allocator::Action::kFreeRequested, 0x1000'0000 + i * 2 * kMebi, 2 * kMebi);
    add(allocator::Action::kFreeCompleted, 0x1000'0000 + i * 2 * kMebi, 2 * kMebi);
  }
  layout.subject.has_layout = true;
  layout.walk = std::make_unique<fragmentation::LayoutWalk>(layout.subject.history, layout.subject.rules);
  const FragmentationOverTime made = MakeFragmentationOverTime(layout);
  ASSERT_FALSE(made.points.empty());
  EXPECT_EQ(made.points.back().reserved, 20 * kMebi);
  EXPECT_EQ(made.points.back().causes.pinned, 10 * kMebi);
  ASSERT_GE(made.outcomes.size(), 4u);
  EXPECT_TRUE(made.outcomes[0].recorded);
  EXPECT_EQ(made.outcomes[0].peak_reserved, 20 * kMebi);
  EXPECT_FALSE(made.outcomes[1].recorded);
  EXPECT_EQ(made.outcomes[1].peak_reserved, 20 * kMebi) << made.outcomes[1].refused;
}

}  // namespace
}  // namespace vramscope::viewer
