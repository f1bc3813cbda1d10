// SPDX-License-Identifier: Apache-2.0
// The place of a process in its job: the variables that its launcher set, its host and its pod.
//
// Why each process is examined: `vramscope record -- torchrun ...` has no rank, but its children have. Only
// the variables of a fixed list are read, because environments hold secrets.
//
//   RANK=37 LOCAL_RANK=3 WORLD_SIZE=64 on node-09  ->  rank "37", host "node-09", env.RANK "37", ...
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace vramscope::collector {

// The variables with a process's rank, in order of precedence. torchrun sets RANK also under mpirun and srun.
// mpirun inside a Slurm job passes SLURM_PROCID on unchanged. An indexed job of Kubernetes numbers its pods.
inline constexpr std::array kRankVariables = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                              "PMI_RANK", "SLURM_PROCID",         "JOB_COMPLETION_INDEX"};

// "rank", "host", "pod", and "env.NAME" for each variable that is set. Unknown facts are left out. `redact`:
// only numbers, because names of hosts, pods and jobs can identify users.
[[nodiscard]] std::map<std::string, std::string> LaunchFactsOf(uint32_t pid, bool redact = false);

}  // namespace vramscope::collector
