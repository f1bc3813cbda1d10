// SPDX-License-Identifier: Apache-2.0
// Maps a moment (timeline/moment_spec.h) to an event on one device.
#pragma once

#include <optional>

#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"
#include "profiler/timeline/training.h"

namespace vramscope::report {

// Nanoseconds since the trace's start, for kTime or kMonotonic. Not below 0.
[[nodiscard]] uint64_t TimeOf(const model::Run& run, const timeline::MomentSpec& spec);

// The moment is the state after the returned event; kNever: before all events. `training`: of the device's
// process. `request` determines which failure "oom" means. Fails if there is no such moment.
[[nodiscard]] Result<model::EventIndex> FindEvent(const model::Run& run, const timeline::DeviceCurve& curve,
                                                  const timeline::Training& training, const Request& request,
                                                  const timeline::MomentSpec& spec);

// The highest reserved bytes after any event in [begin, end).
[[nodiscard]] std::optional<uint64_t> MostReserved(const timeline::DeviceCurve& curve,
                                                   model::EventIndex begin, model::EventIndex end);

// "this run has no step 9: it has steps 1 to 5 in this process."
[[nodiscard]] Error NoSuchStep(uint64_t number, uint64_t steps);

}  // namespace vramscope::report
