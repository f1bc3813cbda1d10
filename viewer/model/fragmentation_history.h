// SPDX-License-Identifier: Apache-2.0
// The data of the fragmentation panel: fragmentation over the whole run, and the reserved memory that the run
// would need with other allocator settings. Computed on another thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fragmentation/answer.h"
#include "viewer/model/background_task.h"
#include "viewer/model/document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// The result of a replay of the run's requests with the given allocator settings.
struct SettingsOutcome {
  std::string settings;        // value of PYTORCH_CUDA_ALLOC_CONF; "" = all defaults
  bool recorded = false;       // true = peak_reserved is the recorded figure, not the result of a replay
  uint64_t peak_reserved = 0;  // bytes
  std::string refused;         // why these settings cannot be tried, one sentence; "" if they were tried
};

struct FragmentationOverTime {
  // In order of time. They include the moment with the most reserved memory and the moment with the worst
  // fragmentation.
  std::vector<fragmentation::SeriesPoint> points;
  // First the recorded figure, then a replay with the recorded settings, then replays with other settings.
  // All replays start with an empty allocator. Therefore other settings should be compared with the second
  // element.
  std::vector<SettingsOutcome> outcomes;
};

// O(events), in several passes.
[[nodiscard]] FragmentationOverTime MakeFragmentationOverTime(const LayoutView& layout);

// Returns one point for each pixel column: the point with the most reserved bytes that no request uses.
// nullptr for a column before the first point.
[[nodiscard]] std::vector<const fragmentation::SeriesPoint*> ColumnsOf(
    const std::vector<fragmentation::SeriesPoint>& points, const TimeView& view, size_t columns);

class FragmentationHistory {
 public:
  // Call once per frame. Starts the computation if the layout has changed. The other thread calls `wake` when
  // the answer is ready. `layout.walk` must not be null. The layout must exist until the next Update or
  // Clear.
  void Update(const LayoutView& layout, const std::function<void()>& wake);
  // Waits for the other thread and drops the layout. Call before the layout's document is destroyed.
  void Clear() { over_time_.Clear(); }
  [[nodiscard]] bool busy() const { return over_time_.busy(); }
  // Returns the answer; nullopt while it is being computed.
  [[nodiscard]] const std::optional<FragmentationOverTime>& over_time() const { return over_time_.answer(); }

 private:
  BackgroundAnswer<const LayoutView*, FragmentationOverTime> over_time_;
};

}  // namespace vramscope::viewer
