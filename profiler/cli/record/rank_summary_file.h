// SPDX-License-Identifier: Apache-2.0
// Writes the summary of one rank into a file next to the rank's trace. `vramscope fleet` reads this summary
// instead of the whole trace.
#pragma once

#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

// Writes the summary if the trace belongs to a job of several ranks. If writing fails, a message is printed
// on stderr.
void WriteRankSummary(const collector::RecordOutcome& outcome);

}  // namespace vramscope::cli
