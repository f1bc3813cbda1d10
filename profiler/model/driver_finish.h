// SPDX-License-Identifier: Apache-2.0
// Finishes the driver level. Ended processes give back what they held. Each device's changes are merged in
// order with the driver's figures.
#pragma once

#include <vector>

#include "profiler/model/driver_counts.h"
#include "profiler/model/run.h"

namespace vramscope::model {

// `level` has the allocations and segments, `counts` their bytes. Two passes over all changes.
[[nodiscard]] DriverLevel FinishDriverLevel(DriverLevel level, DriverCounts counts,
                                            const std::vector<trace::ProcessInfo>& processes,
                                            const TimeIndex& times, Anomalies& anomalies);

}  // namespace vramscope::model
