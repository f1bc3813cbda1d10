// SPDX-License-Identifier: Apache-2.0
// Oracles: classify::UsageAt, which goes over all blocks for each moment, and timeline::DeviceCurve.
#include "profiler/classify/memory_series.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/classify/analysis.h"
#include "profiler/classify/usage.h"
#include "profiler/model/testing/script.h"
#include "profiler/timeline/curve.h"
#include "viewer/model/testing/training_document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {
namespace {

using classify::CategoryBytes;
using classify::CategoryMask;
using classify::kAllCategories;
using classify::MemoryColumn;
using classify::MemorySeries;
using model::EventIndex;

class MemorySeriesTest : public testing::Test {
 protected:
  MemorySeriesTest() { Read(TrainingRun()); }

  void Read(model::Run run) {
    run_ = std::make_unique<model::Run>(std::move(run));
    analysis_ = std::make_unique<classify::Analysis>(*run_);
    curve_ = std::make_unique<timeline::DeviceCurve>(*run_, 0);
    std::vector<EventIndex> all(run_->event_count());
    for (EventIndex i = 0; i < all.size(); ++i) all[i] = i;
    truth_ = classify::UsageAt(*run_, analysis_->categories(), *curve_, all);
  }

  static uint64_t Shown(const CategoryBytes& bytes, CategoryMask shown) {
    uint64_t sum = 0;
    for (size_t c = 0; c < bytes.size(); ++c) sum += (shown >> c & 1) != 0 ? bytes[c] : 0;
    return sum;
  }
  void ExpectTrue(const MemorySeries& series, MemorySeries::Walk& walk, const EventColumn& column) const {
    MemoryColumn truth{~uint64_t{0}, 0, 0, {}};
    for (EventIndex event = column.first; event <= column.last; ++event) {
      const uint64_t bytes = Shown(truth_[event], series.shown());
      truth.low = std::min(truth.low, bytes);
      if (event == column.first || bytes > truth.high) truth.high_event = event;
      truth.high = std::max(truth.high, bytes);
    }
    const MemoryColumn column_shown = walk.Over(column.first, column.last);
    ASSERT_EQ(column_shown.low, truth.low) << column.first << " to " << column.last;
    ASSERT_EQ(column_shown.high, truth.high) << column.first << " to " << column.last;
    ASSERT_EQ(column_shown.high_event, truth.high_event) << column.first << " to " << column.last;
    ASSERT_EQ(column_shown.categories, truth_[truth.high_event]);
  }

  // Views of all widths, from the whole run to the narrowest, each `factor` narrower than the one before, at
  // random places.
  void ExpectEveryZoomTrue(std::mt19937& random, double factor) {
    MemorySeries series(*run_, analysis_->categories(), 0);
    const auto whole = static_cast<double>(run_->times.last_ns());
    for (double width = whole; width > TimeView::kShortest; width /= factor) {
      for (int place = 0; place < 6; ++place) {
        TimeView view(whole);
        const double begin = std::uniform_real_distribution<double>(0, whole - width)(random);
        view.Show(begin, begin + width);
        const size_t pixels = std::uniform_int_distribution<size_t>(1, place % 2 == 0 ? 700 : 12)(random);
        series.Show(place % 3 == 0 ? kAllCategories : static_cast<CategoryMask>(random()) & kAllCategories);
        EventIndex last_before = model::kNever;
        MemorySeries::Walk walk(series);
        for (const EventColumn& column : ColumnsOf(run_->times, view, pixels)) {
          ASSERT_NO_FATAL_FAILURE(ExpectTrue(series, walk, column));
          // No event between two columns is left out.
          if (last_before != model::kNever) {
            ASSERT_LE(column.first, last_before + 1);
          }
          last_before = column.last;
        }
      }
    }
  }

  std::unique_ptr<model::Run> run_;
  std::unique_ptr<classify::Analysis> analysis_;
  std::unique_ptr<timeline::DeviceCurve> curve_;
  std::vector<CategoryBytes> truth_;  // after every event
};

TEST_F(MemorySeriesTest, EveryPixelColumnOfEveryZoomHasThePeakThatBruteForceFinds) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  ExpectEveryZoomTrue(random, 3);
}

// Blocks of all sizes that are allocated and freed in no order, several at one time, with long pauses. They
// are saved, released and labeled inside and outside phases, so that bytes change their category while they
// are alive.
model::Run RandomRun(std::mt19937& random) {
  const auto below = [&](uint64_t end) {
    return std::uniform_int_distribution<uint64_t>(0, end - 1)(random);
  };
  model::testing::Script s;
  s.Device(model::testing::kCuda0).TotalsAre(below(2) << 20, 1 << 30);
  std::vector<std::string> live;
  uint64_t time = 0;
  bool backward = false;
  for (int made = 0; made < 1500;) {
    const uint64_t pause = below(50);
    time += pause == 0 ? below(10'000'000) : pause < 25 ? 0 : below(300);
    s.At(time);
    const uint64_t what = below(12);
    if (what < 5 || live.size() < 3) {
      live.push_back("block" + std::to_string(made++));
      s.Alloc(live.back(), 1 + below(uint64_t{1} << (1 + below(36))));
      continue;
    }
    std::swap(live[below(live.size())], live.back());
    const std::string& block = live.back();
    if (what < 9) {
      s.Free(block);
      live.pop_back();
    } else if (what == 9) {
      s.Saved(block);
    } else if (what == 10) {
      below(2) == 0 ? s.Released(block) : s.Gradient(block, live.front());
    } else if (backward = !backward; backward) {
      s.RangeBegin(trace::RangeKind::kBackward, "");
    } else {
      s.RangeEnd(trace::RangeKind::kBackward, "");
    }
  }
  return s.Load();
}

TEST_F(MemorySeriesTest, EveryPixelColumnOfEveryZoomOfRandomRunsHasThePeakThatBruteForceFinds) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 8; ++round) {
    Read(RandomRun(random));
    ASSERT_NO_FATAL_FAILURE(ExpectEveryZoomTrue(random, 1.5)) << "round " << round;
  }
}

TEST_F(MemorySeriesTest, AnyStretchHasThePeakOfTheDeviceCurve) {
  const MemorySeries series(*run_, analysis_->categories(), 0);
  EXPECT_EQ(series.peak(), curve_->peak().bytes);
  std::mt19937 random(7);
  std::uniform_int_distribution<EventIndex> any(0, run_->event_count() - 1);
  for (int i = 0; i < 2000; ++i) {
    EventIndex first = any(random);
    EventIndex last = any(random);
    if (first > last) std::swap(first, last);
    const timeline::Peak peak = curve_->PeakWithin(first, last + 1);
    const MemoryColumn column = series.Over(first, last);
    ASSERT_EQ(column.high, peak.bytes);
    ASSERT_EQ(column.high_event, peak.event);
  }
}

TEST(MemorySeriesOfAScriptTest, BytesThatChangeTheirCategoryAndUnseenOnesAreInOrder) {
  model::testing::Script script;
  script.Device(model::testing::kCuda0).TotalsAre(1 << 20, 4 << 20);
  for (int step = 0; step < 3; ++step) {
    script.Alloc("hidden", 4096).Saved("hidden");
    script.Backward([&] { script.Alloc("grad", 512).Released("hidden"); });
    script.Optimizer("SGD", [&] { script.Alloc("scratch", 2048).Free("scratch"); });
    script.Free("grad").Free("hidden");
  }
  const model::Run run = script.Load();
  const classify::Analysis analysis(run);
  const timeline::DeviceCurve curve(run, 0);
  const MemorySeries series(run, analysis.categories(), 0);
  std::vector<EventIndex> all(run.event_count());
  for (EventIndex i = 0; i < all.size(); ++i) all[i] = i;
  const auto truth = classify::UsageAt(run, analysis.categories(), curve, all);
  for (const EventIndex event : all) ASSERT_EQ(series.After(event), truth[event]) << event;
}

}  // namespace
}  // namespace vramscope::viewer
