// SPDX-License-Identifier: Apache-2.0
// Finds the causes of outliers with all processes of `vramscope fleet --mpi`. An outlier is a rank whose
// memory differs from the typical rank.
//
// Process 0 has the summaries of all ranks and sends questions. Every other process waits for them in
// ServeProcessZero(). A question about an outlier goes to a process that can read the traces of both the
// outlier and the typical rank. If no process can read both, process 0 answers the question itself, with
// copies of the traces that it cannot read.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <vector>

#include "profiler/cli/fleet/mpi_files.h"
#include "profiler/fleet/job.h"

namespace vramscope::cli {

// Waits for a message from process `from` and returns its kind (MPI tag). Sleeps between polls, because MPI's
// own wait is a busy loop.
int WaitForMessage(const boost::mpi::communicator& world, int from);
inline constexpr int kSummaries = 6;  // kind of the message that contains summaries

// For process 0: returns the function that explains outliers. `seen`: the files that each process can read.
// `world` and `seen` must outlive the result.
[[nodiscard]] fleet::Explainer SharedExplainer(const boost::mpi::communicator& world,
                                               const std::vector<std::vector<Seen>>& seen, const Plan& plan);
// For all other processes: answers questions until process 0 calls EndServing().
void ServeProcessZero(const boost::mpi::communicator& world);
void EndServing(const boost::mpi::communicator& world);

}  // namespace vramscope::cli
