// SPDX-License-Identifier: Apache-2.0
// Causes of outliers, found by all processes of `vramscope fleet --mpi`.
//
// Process 0 has the summaries and asks. Every other process waits in ServeProcessZero(). A question about an
// outlier goes to a process that sees the traces of the outlier and of the typical rank. If no process sees
// both, process 0 gets both traces.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <vector>

#include "profiler/cli/fleet/mpi_files.h"
#include "profiler/fleet/job.h"

namespace vramscope::cli {

// Waits for a message from process `from` and returns its kind. Sleeps between polls, because MPI's own wait
// is a busy loop.
int WaitForMessage(const boost::mpi::communicator& world, int from);
inline constexpr int kSummaries = 6;  // kind of message: summaries

// For process 0. `seen`: files by process. `world` and `seen` must outlive the result.
[[nodiscard]] fleet::Explainer SharedExplainer(const boost::mpi::communicator& world,
                                               const std::vector<std::vector<Seen>>& seen, const Plan& plan);
// For all other processes. Returns after EndServing(), which process 0 calls.
void ServeProcessZero(const boost::mpi::communicator& world);
void EndServing(const boost::mpi::communicator& world);

}  // namespace vramscope::cli
