// SPDX-License-Identifier: Apache-2.0
// What /proc tells about a process and this machine. All of it is best effort: a process may be gone, and
// then the text is empty.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace_format/process_identity.h"

namespace vramscope::collector {

std::string ExecutableOf(uint32_t pid);
// Arguments joined by spaces, those with blanks or quotes in single quotes; at most 4 KiB.
std::string CommandLineOf(uint32_t pid);
std::string ThreadName(uint32_t pid, uint32_t thread);

// The number that the process has in our pid namespace: its own, unless it lives in another one. 0 = it is
// not seen from here, which a process of this user is as long as it runs.
uint32_t PidHere(const trace::ProcessIdentity& process);
// True only if it is certain: a process of another pid namespace may always be running.
bool HasEnded(const trace::ProcessIdentity& process);

uint32_t ParentOf(uint32_t pid);

// The variables in which launchers give a process its rank; the first that is there counts: torchrun sets
// RANK also under mpirun and srun, and mpirun within a job of Slurm hands SLURM_PROCID on as it found it.
inline constexpr std::array kRankVariables = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                              "SLURM_PROCID"};

// The rank that the launcher gave the process in its environment (torchrun, mpirun, srun); "" = none. No
// other variable is looked at: environments hold secrets.
std::string RankOf(uint32_t pid);

// `arguments` as CommandLineOf shows them.
std::string JoinCommandLine(const std::vector<std::string>& arguments);

// "host.kernel", "host.cpu", "host.cpus", "host.memory_bytes", and "env.NAME" for the variables of a fixed
// list that change what PyTorch allocates. No other variable is looked at: environments hold secrets.
std::map<std::string, std::string> MachineFacts();

}  // namespace vramscope::collector
