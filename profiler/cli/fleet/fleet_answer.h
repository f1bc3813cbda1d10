// SPDX-License-Identifier: Apache-2.0
// The part of `vramscope fleet` that follows the reading of the ranks, with and without MPI.
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

// Makes this process keep freed memory for its next trace, instead of returning the memory to the system.
// Call once, before the first trace is read.
void KeepFreedMemory();

// The MPI program, in the folder of this program.
inline constexpr char kFleetMpiProgram[] = "vramscope-fleet-mpi";

}  // namespace vramscope::cli
