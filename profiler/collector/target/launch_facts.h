// SPDX-License-Identifier: Apache-2.0
// Finds the place of a process in its job: the rank and other variables that the launcher set, the host and
// the pod.
//
// Each recorded process is examined: in `vramscope record -- torchrun ...`, torchrun has no rank, but its
// children have ranks. Only the environment variables of a fixed list are read, because environments contain
// secrets.
//
//   RANK=37 LOCAL_RANK=3 WORLD_SIZE=64 on node-09  ->  rank "37", host "node-09", env.RANK "37", ...
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace vramscope::collector {

// The variables that contain the rank of a process; the first variable that is set counts. RANK comes first,
// because torchrun also runs under mpirun and srun. SLURM_PROCID comes after the variables of MPI, because
// mpirun inside a Slurm job passes SLURM_PROCID on unchanged. JOB_COMPLETION_INDEX is the number of a pod in
// an indexed Kubernetes job.
inline constexpr std::array kRankVariables = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                              "PMI_RANK", "SLURM_PROCID",         "JOB_COMPLETION_INDEX"};

// Returns "rank", "host", "pod", and "env.NAME" for each variable that is set. Facts that are not known are
// left out. With `redact`, only numbers are returned, because names of hosts, pods and jobs can identify
// users.
[[nodiscard]] std::map<std::string, std::string> LaunchFactsOf(uint32_t pid, bool redact = false);

}  // namespace vramscope::collector
