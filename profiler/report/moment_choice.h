// SPDX-License-Identifier: Apache-2.0
// Which event of a run a moment means (timeline/moment_spec.h), on one device: the same in all verbs.
#pragma once

#include <optional>

#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"
#include "profiler/timeline/training.h"

namespace vramscope::report {

// Nanoseconds since the trace's start, of a kTime or kMonotonic; a moment before the start is the start.
[[nodiscard]] uint64_t TimeOf(const model::Run& run, const timeline::MomentSpec& spec);

// The moment is the state after this event; kNever: before all events. `training` is that of the device's
// process; `request` says which failure "oom" means. Fails with a sentence when there is no such moment.
[[nodiscard]] Result<model::EventIndex> FindEvent(const model::Run& run, const timeline::DeviceCurve& curve,
                                                  const timeline::Training& training, const Request& request,
                                                  const timeline::MomentSpec& spec);

// The most that the device's allocator held in [begin, end): what it held when `begin` came, and after each
// event.
[[nodiscard]] std::optional<uint64_t> MostReserved(const timeline::DeviceCurve& curve,
                                                   model::EventIndex begin, model::EventIndex end);

// "this run has no step 9: it has steps 1 to 5 in this process."
[[nodiscard]] Error NoSuchStep(uint64_t number, uint64_t steps);

}  // namespace vramscope::report
