// SPDX-License-Identifier: Apache-2.0
// Allocations and frees on a device between two moments.
#pragma once

#include "viewer/model/document.h"
#include "viewer/model/session.h"

namespace vramscope::viewer {

struct RangeSummary {
  uint64_t live_before = 0;  // live bytes at the start of the range
  uint64_t live_after = 0;   // at its end
  uint64_t allocations = 0;  // within
  uint64_t allocated = 0;    // bytes of these allocations
  uint64_t frees = 0;
  uint64_t freed = 0;
  timeline::Peak peak;
  uint64_t stayed = 0;  // bytes allocated within and alive at its end
};

// Called in every frame while a range is dragged; does not read all events in the range.
[[nodiscard]] RangeSummary Summarize(const Document& document, const DeviceView& device,
                                     const TimeRange& range);

}  // namespace vramscope::viewer
