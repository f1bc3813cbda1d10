// SPDX-License-Identifier: Apache-2.0
// Writes the summary of one rank next to its trace. `vramscope fleet` reads it instead of the trace.
#pragma once

#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

// Writes the summary if the trace belongs to a job of several ranks. A failure is only reported on stderr.
void WriteRankSummary(const collector::RecordOutcome& outcome);

}  // namespace vramscope::cli
