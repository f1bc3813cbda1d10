// SPDX-License-Identifier: Apache-2.0
// Causes of outliers, found by all processes of `vramscope fleet --mpi`.
//
//   process 0 has the summaries and asks     every other process waits in ServeProcessZero()
//   an outlier goes to a process that sees   so that traces of several outliers are read in parallel
//   its trace and the typical one
//   nobody sees both                         both traces are sent to process 0, and removed after reading
#pragma once

#include <boost/mpi/communicator.hpp>
#include <vector>

#include "profiler/cli/fleet/mpi_files.h"
#include "profiler/fleet/job.h"

namespace vramscope::cli {

// Waits until a message from process `from` has arrived; returns its kind. Sleeps between polls: MPI's own
// wait is a busy loop, which would take a core from a process that still reads.
int WaitForMessage(const boost::mpi::communicator& world, int from);
inline constexpr int kSummaries = 6;  // kind of message: the summaries that a process has read

// For process 0. `seen`: files by process. `world` and `seen` must outlive the result.
[[nodiscard]] fleet::Explainer SharedExplainer(const boost::mpi::communicator& world,
                                               const std::vector<std::vector<Seen>>& seen, const Plan& plan);
// For all others; returns after EndServing(), which process 0 calls.
void ServeProcessZero(const boost::mpi::communicator& world);
void EndServing(const boost::mpi::communicator& world);

}  // namespace vramscope::cli
