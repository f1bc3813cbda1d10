// SPDX-License-Identifier: Apache-2.0
// The data of a page's timeline: allocated bytes by category in a few thousand columns, each with its exact
// extremes.
//
// A column is an interval of events and shows the moment in it with the most bytes. So the highest column
// equals the report's peak exactly, however many events a column covers. A third of the boundaries is spaced
// evenly by events, a third evenly by time, and a third lies inside the step of the peak. A run with fewer
// events than columns has one column per event.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"

namespace vramscope::html {

// An object of arrays with one entry per column. Each number is the difference from the previous column; the
// first one is relative to 0. Bytes of 100, 120, 120, 90 become [100, 20, 0, -30].
//   begin_ns, peak_ns           time of the column's first event, and of the moment that it shows
//   low_bytes                   the lowest allocated bytes in the column
//   reserved_bytes, used_bytes  the highest in the column; null instead of the array if not recorded
//   step, phase                 step and phase of the moment (0 = outside of all steps; timeline::Phase)
//   categories                  an object of arrays: bytes at the moment, only categories that occur
// The object also has end_ns, the end of the run. `peak` is the event of the report's peak. O(events of the
// device).
[[nodiscard]] nlohmann::ordered_json MemoryColumns(const classify::Analysis& analysis,
                                                   model::DeviceIndex device, model::EventIndex peak);

}  // namespace vramscope::html
