// SPDX-License-Identifier: Apache-2.0
// Compares the ranks of a job and prints the answer of `vramscope fleet`, after the ranks' files have been
// read. Both the program with MPI and the program without MPI use it.
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
  size_t top = 32;          // ranks to list (--top); 0 = all
  size_t explained = 8;     // outliers to explain (--explain)
  double most_spread = -1;  // limit of --spread-below, as a share of the median; negative = no limit
};
[[nodiscard]] Result<FleetRequest> FleetRequestFrom(const Arguments& arguments);

// Compares the ranks, prints the answer or writes it to a file, and returns the exit code.
Result<int> AnswerFleet(fleet::ReadRanks read, const fleet::Explainer& explain, const FleetRequest& request,
                        const Arguments& arguments, const Terminal& terminal);

// Configures malloc to keep freed memory for the next trace instead of returning it to the system. Call once,
// before the first trace is read.
void KeepFreedMemory();

// The file name of the program with MPI. It is in the same folder as this program.
inline constexpr char kFleetMpiProgram[] = "vramscope-fleet-mpi";

}  // namespace vramscope::cli
