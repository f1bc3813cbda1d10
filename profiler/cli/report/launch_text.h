// SPDX-License-Identifier: Apache-2.0
// Rank, host and job of each process, for `vramscope info`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "profiler/cli/report/trace_facts.h"

namespace vramscope::cli {

// Adds rank, local_rank, world_size, host, pod, job and environment to the object of a process.
void AddLaunch(const model::Launch& launch, nlohmann::json& process);

// "rank 37 of 64  local rank 5  node-09  pod train-9  job 77  process 4711": processes with a rank.
[[nodiscard]] std::string RankTable(const TraceFacts& facts);

}  // namespace vramscope::cli
