// SPDX-License-Identifier: Apache-2.0
// What the timeline draws, one entry for each pixel column, ready to be painted.
#pragma once

#include <vector>

#include "profiler/timeline/training.h"
#include "viewer/model/document.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// Columns [first, last) in which the same was going on.
struct PhaseBand {
  size_t first = 0;
  size_t last = 0;
  timeline::Phase phase = timeline::Phase::kOther;
};
struct StepBand {
  size_t first = 0;
  size_t last = 0;
  uint32_t step = 0;  // the first, where a column has several
  bool deep = false;
};

struct TimelinePicture {
  std::vector<EventColumn> columns;
  std::vector<MemoryColumn> memory;
  std::vector<Extremes> reserved;  // empty() before the line begins; no entries when it does not exist
  std::vector<Extremes> used;
  std::vector<PhaseBand> phases;  // where it is known
  std::vector<StepBand> steps;
};

[[nodiscard]] TimelinePicture DrawTimeline(const Document& document, const DeviceView& device,
                                           const TimeView& view, size_t columns);

}  // namespace vramscope::viewer
