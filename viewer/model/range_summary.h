// SPDX-License-Identifier: Apache-2.0
// Sums up what happened on a device in a selected time range: allocations, frees and the peak.
#pragma once

#include "viewer/model/document.h"
#include "viewer/model/session.h"

namespace vramscope::viewer {

struct RangeSummary {
  uint64_t live_before = 0;  // live bytes at the start of the range
  uint64_t live_after = 0;   // live bytes at the end of the range
  uint64_t allocations = 0;  // number of allocations in the range
  uint64_t allocated = 0;    // bytes of these allocations
  uint64_t frees = 0;        // number of frees in the range
  uint64_t freed = 0;        // bytes of these frees
  timeline::Peak peak;       // peak in the range
  uint64_t stayed = 0;       // bytes that were allocated in the range and are alive at its end
};

// Fast enough for a call in every frame, because it does not read all events of the range.
[[nodiscard]] RangeSummary Summarize(const Document& document, const DeviceView& device,
                                     const TimeRange& range);

}  // namespace vramscope::viewer
