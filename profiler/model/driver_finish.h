// SPDX-License-Identifier: Apache-2.0
// Completes the driver level of a run (driver_level.h) after all events are read. Memory that a process held
// when it ended counts as freed. The changes of each device are merged in order with the used bytes that the
// driver reported.
#pragma once

#include <vector>

#include "profiler/model/driver_counts.h"
#include "profiler/model/run.h"

namespace vramscope::model {

// `level` contains the allocations and segments, `counts` contains their bytes. Reads all changes twice.
[[nodiscard]] DriverLevel FinishDriverLevel(DriverLevel level, DriverCounts counts,
                                            const std::vector<trace::ProcessInfo>& processes,
                                            const TimeIndex& times, Anomalies& anomalies);

}  // namespace vramscope::model
