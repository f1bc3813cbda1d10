// SPDX-License-Identifier: Apache-2.0
// What `vramscope fleet` does after reading the ranks, in one process or in many processes under MPI.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/fleet/read.h"
#include "trace_format/result.h"

namespace vramscope::cli {

struct FleetRequest {
  size_t top = 32;
  size_t explained = 8;
  double most_spread = -1;  // share of the median; negative = no limit
};
[[nodiscard]] Result<FleetRequest> FleetRequestFrom(const Arguments& arguments);

// Compares the ranks, prints or writes the answer, and returns the exit code.
Result<int> AnswerFleet(fleet::ReadRanks read, const fleet::Explainer& explain, const FleetRequest& request,
                        const Arguments& arguments, const Terminal& terminal);

// Makes this process keep freed memory for its next trace, instead of returning it to the system. One trace after
// the other needs hundreds of MiB, and the system would have to clear the pages anew for each. Call once, before
// the first trace is read.
void KeepFreedMemory();

// The program that does the same under MPI. It is in the same folder as this program.
inline constexpr char kFleetMpiProgram[] = "vramscope-fleet-mpi";

}  // namespace vramscope::cli
