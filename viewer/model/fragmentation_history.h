// SPDX-License-Identifier: Apache-2.0
// Fragmentation over the whole run, and the run's requests under other settings: what profiler/fragmentation
// and the model of the allocator say, made on a thread.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fragmentation/answer.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

// The requests of the run, put through the model of PyTorch's allocator.
struct SettingsOutcome {
  std::string settings;        // as PYTORCH_CUDA_ALLOC_CONF; "" = all defaults
  bool recorded = false;       // what the file says, and no rerun
  uint64_t peak_reserved = 0;  // bytes
  std::string refused;         // one sentence, where they could not be tried
};

struct FragmentationOverTime {
  std::vector<fragmentation::SeriesPoint> points;  // in order; never without the fullest and the worst moment
  // What was recorded; the recorded settings rerun from an empty allocator, which is what the others compare
  // with; and the others.
  std::vector<SettingsOutcome> outcomes;
};

// O(events), some times over.
[[nodiscard]] FragmentationOverTime MakeFragmentationOverTime(const LayoutView& layout);

// The points to draw in `columns` pixel columns from begin_ns to end_ns: for each column the one with the
// most reserved and not asked for of those that hold within it; nullptr before the first point.
[[nodiscard]] std::vector<const fragmentation::SeriesPoint*> ColumnsOf(
    const std::vector<fragmentation::SeriesPoint>& points, double begin_ns, double end_ns, size_t columns);

class FragmentationHistory {
 public:
  // `layout.walk` must be there; the layout must outlive the view, or its next Update. `wake` when there is
  // an answer.
  void Update(const LayoutView& layout, const std::function<void()>& wake);
  // Forgets the layout: before its document goes. Waits for what still reads it.
  void Clear();
  [[nodiscard]] bool busy() const { return running_.valid(); }
  // Nothing while it is made.
  [[nodiscard]] const std::optional<FragmentationOverTime>& over_time() const { return over_time_; }

 private:
  const LayoutView* layout_ = nullptr;
  std::optional<FragmentationOverTime> over_time_;
  std::future<FragmentationOverTime> running_;
};

}  // namespace vramscope::viewer
