// SPDX-License-Identifier: Apache-2.0
// A time series of a device's memory by category: one point after each event that changes the memory.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "profiler/export/content.h"

namespace vramscope::exporting {

struct SeriesPoint {
  model::EventIndex event = 0;
  uint64_t allocated = 0;
  std::optional<uint64_t> reserved;         // empty = not reported yet
  classify::CategoryBytes categories = {};  // bytes of each category; the sum is `allocated`
  uint32_t step = 0;                        // 0 = outside all steps
  timeline::Phase phase = timeline::Phase::kOther;
};

class Series {
 public:
  // `content` must outlive the series. O(n log n) for n category changes.
  Series(const Content& content, model::DeviceIndex device);

  // Calls visit(const SeriesPoint&) for each event that changed the memory, in order. O(changes).
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    Cursor cursor;
    SeriesPoint point;
    for (uint64_t i = 0; Next(cursor, point); ++i) {
      if (i % kBetweenTellings == 0) content_.Tell("events", point.event, content_.run().event_count());
      visit(static_cast<const SeriesPoint&>(point));
    }
  }

 private:
  // One change of a block's category.
  struct Turn {
    model::EventIndex event = 0;
    uint64_t bytes = 0;
    classify::Category from{};
    classify::Category to{};
  };
  struct Cursor {
    size_t change = 0;
    size_t turn = 0;
    size_t unseen = 0;
    size_t reserved = 0;
    size_t span = 0;
    uint64_t unseen_bytes = 0;
  };

  [[nodiscard]] bool Next(Cursor& cursor, SeriesPoint& point) const;
  [[nodiscard]] model::EventIndex NextEvent(const Cursor& cursor) const;

  const Content& content_;
  const model::Device& device_;
  std::vector<Turn> turns_;
};

}  // namespace vramscope::exporting
