// SPDX-License-Identifier: Apache-2.0
// Formats rank, host and job of each process for `vramscope info`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "profiler/cli/report/trace_facts.h"

namespace vramscope::cli {

// Adds rank, local_rank, world_size, host, pod, job, environment, mesh and gpu_uuids to the JSON object of a
// process.
void AddLaunch(const model::Launch& launch, nlohmann::json& process);

// Returns one line for each process that has a rank, except data loader workers: "rank 37 of 64 local rank 5
// node-09 pod train-9 job 77 process 4711".
[[nodiscard]] std::string RankTable(const TraceFacts& facts);

}  // namespace vramscope::cli
