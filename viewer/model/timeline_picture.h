// SPDX-License-Identifier: Apache-2.0
// Computes what the timeline shows in each pixel column.
#pragma once

#include <vector>

#include "profiler/timeline/training.h"
#include "viewer/model/document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// The columns [first, last) have the same phase.
struct PhaseBand {
  size_t first = 0;
  size_t last = 0;
  timeline::Phase phase = timeline::Phase::kOther;
};
// The columns [first, last) show the same step.
struct StepBand {
  size_t first = 0;
  size_t last = 0;
  uint32_t step = 0;  // if a column contains several steps, the first of them
  bool deep = false;  // true for a deep step (docs/glossary.md)
};

struct TimelinePicture {
  std::vector<EventColumn> columns;
  std::vector<MemoryColumn> memory;
  // Minimum and maximum of the reserved memory in each column; Extremes::empty() before the first known
  // value. The vector is empty if the run has no reserved memory.
  std::vector<Extremes> reserved;
  std::vector<Extremes> used;     // used memory of the device, in the same form as `reserved`
  std::vector<PhaseBand> phases;  // columns with an unknown phase are in no band
  std::vector<StepBand> steps;
};

[[nodiscard]] TimelinePicture DrawTimeline(const Document& document, const DeviceView& device,
                                           const TimeView& view, size_t columns);

}  // namespace vramscope::viewer
