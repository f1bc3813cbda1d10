// SPDX-License-Identifier: Apache-2.0
// The content of the timeline, one entry per pixel column.
#pragma once

#include <vector>

#include "profiler/timeline/training.h"
#include "viewer/model/document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// Columns [first, last) with the same phase.
struct PhaseBand {
  size_t first = 0;
  size_t last = 0;
  timeline::Phase phase = timeline::Phase::kOther;
};
struct StepBand {
  size_t first = 0;
  size_t last = 0;
  uint32_t step = 0;  // the first step, if a column has several
  bool deep = false;
};

struct TimelinePicture {
  std::vector<EventColumn> columns;
  std::vector<MemoryColumn> memory;
  // By column: reserved memory. Extremes::empty() before the line begins. No elements without a line.
  std::vector<Extremes> reserved;
  std::vector<Extremes> used;     // the device's used memory, in the same form
  std::vector<PhaseBand> phases;  // parts with an unknown phase have no band
  std::vector<StepBand> steps;
};

[[nodiscard]] TimelinePicture DrawTimeline(const Document& document, const DeviceView& device,
                                           const TimeView& view, size_t columns);

}  // namespace vramscope::viewer
