// SPDX-License-Identifier: Apache-2.0
// Fragmentation over the whole run, and the run's requests under other settings, computed on a thread.
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

// What the model of PyTorch's allocator gives for the run's requests, with one setting.
struct SettingsOutcome {
  std::string settings;        // as PYTORCH_CUDA_ALLOC_CONF; "" = all defaults
  bool recorded = false;       // the file's own figures, not the model's
  uint64_t peak_reserved = 0;  // bytes
  std::string refused;         // one sentence, if these settings cannot be tried
};

struct FragmentationOverTime {
  // in order, with the fullest and the worst moment
  std::vector<fragmentation::SeriesPoint> points;
  // The recorded figures, the recorded settings from an empty allocator, then other settings. Compare other
  // settings with the second outcome.
  std::vector<SettingsOutcome> outcomes;
};

// O(events), several passes.
[[nodiscard]] FragmentationOverTime MakeFragmentationOverTime(const LayoutView& layout);

// By pixel column: the point with the most bytes reserved beyond the requests; nullptr before the first
// point.
[[nodiscard]] std::vector<const fragmentation::SeriesPoint*> ColumnsOf(
    const std::vector<fragmentation::SeriesPoint>& points, const TimeView& view, size_t columns);

class FragmentationHistory {
 public:
  // `layout.walk` must exist. The layout must live until the next Update or Clear. Calls `wake` when there is
  // an answer.
  void Update(const LayoutView& layout, const std::function<void()>& wake);
  // Forgets the layout; call before its document is destroyed. Waits for its thread.
  void Clear() { over_time_.Clear(); }
  [[nodiscard]] bool busy() const { return over_time_.busy(); }
  // Nothing while it is being computed.
  [[nodiscard]] const std::optional<FragmentationOverTime>& over_time() const { return over_time_.answer(); }

 private:
  BackgroundAnswer<const LayoutView*, FragmentationOverTime> over_time_;
};

}  // namespace vramscope::viewer
