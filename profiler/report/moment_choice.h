// SPDX-License-Identifier: Apache-2.0
// Finds the event that a moment of the user (timeline/moment_spec.h) refers to, on one device.
#pragma once

#include <optional>

#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"
#include "profiler/timeline/training.h"

namespace vramscope::report {

// For kTime and kMonotonic: returns the moment in nanoseconds since the start of the trace, at least 0.
[[nodiscard]] uint64_t TimeOf(const model::Run& run, const timeline::MomentSpec& spec);

// The requested moment is the state after the returned event; kNever is the state before all events.
// `training`: steps of the device's process. `request` determines which failure "oom" refers to. Fails if the
// run has no such moment.
[[nodiscard]] Result<model::EventIndex> FindEvent(const model::Run& run, const timeline::DeviceCurve& curve,
                                                  const timeline::Training& training, const Request& request,
                                                  const timeline::MomentSpec& spec);

// Returns the highest reserved bytes after any event in [begin, end); nullopt if not recorded.
[[nodiscard]] std::optional<uint64_t> MostReserved(const timeline::DeviceCurve& curve,
                                                   model::EventIndex begin, model::EventIndex end);

// Returns the error "this run has no step 9: it has steps 1 to 5 in this process."
[[nodiscard]] Error NoSuchStep(uint64_t number, uint64_t steps);

}  // namespace vramscope::report
