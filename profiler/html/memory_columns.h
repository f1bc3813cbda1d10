// SPDX-License-Identifier: Apache-2.0
// Creates the JSON for the timeline of the HTML page: allocated bytes by category, in a few thousand columns.
//
// A column covers an interval of events. It shows the moment of this interval with the most allocated bytes,
// so the highest column equals the report's peak.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"

namespace vramscope::html {

// Returns an object of arrays with one entry per column. The arrays store differences from the previous
// column: the bytes 100, 120, 120, 90 become [100, 20, 0, -30].
//   begin_ns, peak_ns           time of the column's first event, and of the moment that it shows
//   low_bytes                   the lowest allocated bytes in the column
//   reserved_bytes, used_bytes  the highest in the column; null instead of the array if not recorded
//   step, phase                 step and phase of the moment (0 = outside of all steps; timeline::Phase)
//   categories                  an object of arrays: bytes at the moment, only categories that occur
// The object also contains end_ns, the end of the run. `peak` is the event of the report's peak; its step
// gets more columns. Takes time proportional to the device's events.
[[nodiscard]] nlohmann::ordered_json MemoryColumns(const classify::Analysis& analysis,
                                                   model::DeviceIndex device, model::EventIndex peak);

}  // namespace vramscope::html
