// SPDX-License-Identifier: Apache-2.0
// The place of a process in its job: the variables that its launcher set, its host and its pod.
//
// Why from the process and not from the recorder: `vramscope record -- torchrun ...` has no rank, but its
// children have. Environments hold secrets, so only the variables of a fixed list are ever read.
//
//   RANK=37 LOCAL_RANK=3 WORLD_SIZE=64 on node-09  ->  rank "37", host "node-09", env.RANK "37", ...
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace vramscope::collector {

// The variables in which launchers give a process its rank, in order of precedence. torchrun sets RANK also
// under mpirun and srun, and mpirun inside a Slurm job passes SLURM_PROCID on unchanged. An indexed job of
// Kubernetes numbers its pods: this is the rank of a process only if there is no other launcher.
inline constexpr std::array kRankVariables = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                              "PMI_RANK", "SLURM_PROCID",         "JOB_COMPLETION_INDEX"};

// "rank", "host", "pod", and "env.NAME" for each variable of the list that is set; what is unknown is left
// out. `redact`: only numbers, because names of hosts, pods and jobs can name users and projects.
[[nodiscard]] std::map<std::string, std::string> LaunchFactsOf(uint32_t pid, bool redact = false);

}  // namespace vramscope::collector
