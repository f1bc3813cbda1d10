// SPDX-License-Identifier: Apache-2.0
// The timeline of a page: allocated bytes by category in some thousand columns, each with its exact extremes.
//
// A column is an interval of events and shows the moment in it with the most bytes. So the highest column is
// the report's peak, to the byte, however many events a column covers. A third of the boundaries is spaced
// evenly by events, a third evenly by time, and a third lies inside the step of the peak. A run with fewer
// events than columns has one column per event.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"

namespace vramscope::html {

// An object of arrays with one entry per column. Each number is the difference to the column before; the
// first one is relative to 0. Bytes of 100, 120, 120, 90 become [100, 20, 0, -30].
//   begin_ns, peak_ns           of its first event, and of the moment that it shows
//   low_bytes                   the least that was allocated in it
//   reserved_bytes, used_bytes  the highest; null where the line does not exist
//   step, phase                 of the moment (0 = outside of all steps; timeline::Phase)
//   categories                  an object of arrays: bytes at the moment, only categories that occur
// and end_ns, of the run. `peak` is the event of the report's peak. O(events of the device).
[[nodiscard]] nlohmann::ordered_json MemoryColumns(const classify::Analysis& analysis,
                                                   model::DeviceIndex device, model::EventIndex peak);

}  // namespace vramscope::html
