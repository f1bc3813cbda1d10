// SPDX-License-Identifier: Apache-2.0
// The data of a page's timeline: allocated bytes by category in a few thousand columns.
//
// A column is an interval of events and shows its moment with the most bytes. So the highest column equals
// the report's peak.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"

namespace vramscope::html {

// Returns an object of arrays with one entry per column. Each number is the difference from the previous
// column. Bytes of 100, 120, 120, 90 become [100, 20, 0, -30].
//   begin_ns, peak_ns           time of the column's first event, and of the moment that it shows
//   low_bytes                   the lowest allocated bytes in the column
//   reserved_bytes, used_bytes  the highest in the column; null instead of the array if not recorded
//   step, phase                 step and phase of the moment (0 = outside of all steps; timeline::Phase)
//   categories                  an object of arrays: bytes at the moment, only categories that occur
// Also end_ns, the end of the run. `peak`: event of the report's peak. O(events of the device).
[[nodiscard]] nlohmann::ordered_json MemoryColumns(const classify::Analysis& analysis,
                                                   model::DeviceIndex device, model::EventIndex peak);

}  // namespace vramscope::html
