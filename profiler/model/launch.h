// SPDX-License-Identifier: Apache-2.0
// The rank, host and job of a recorded process. The collector notes these facts at process start
// (collector/target/launch_facts.h). Rank and world size of init_process_group() take precedence over the
// launcher's environment variables.
//
//   RANK=37 LOCAL_RANK=5 WORLD_SIZE=64 LOCAL_WORLD_SIZE=8, host node-09
//   -> rank 37, local_rank 5, world_size 64, hosts 8: "rank 37 on node-09"
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/ids.h"
#include "trace_format/definitions.h"

namespace vramscope::model {

// One dimension of a device mesh or process group: "pp 2/4" is stage 2 of 4.
struct MeshPlace {
  std::string name;
  uint32_t index = 0;
  uint32_t size = 1;

  friend bool operator==(const MeshPlace&, const MeshPlace&) = default;
};

struct Launch {
  std::optional<uint32_t> rank;
  std::optional<uint32_t> local_rank;        // among the processes of its host
  std::optional<uint32_t> world_size;        // processes of the job
  std::optional<uint32_t> local_world_size;  // processes of the job on its host
  std::string host;                          // "" = unknown
  std::string pod;
  std::string job;                               // of the batch system, else of torchrun
  std::string gpus;                              // CUDA_VISIBLE_DEVICES
  std::vector<MeshPlace> mesh;                   // in the order in which the program made its dimensions
  std::map<uint32_t, std::string> gpu_uuids;     // by CUDA device number in this process
  std::map<std::string, std::string> variables;  // RANK -> 37, ...

  // True if the job is known to have processes on other hosts.
  [[nodiscard]] bool on_several_hosts() const;
};

// Fields that the trace lacks are unknown.
[[nodiscard]] Launch LaunchOf(const trace::Metadata& metadata, ProcessIndex process);

// Parses "pp 2/4, dp 5/8". Leaves out parts of any other form.
[[nodiscard]] std::vector<MeshPlace> ParseMesh(std::string_view text);
// "pp 2, dp 5"; "" = none. At most four dimensions. Leaves out dimensions with a single rank.
[[nodiscard]] std::string MeshText(const std::vector<MeshPlace>& mesh);

// "rank 37", "rank 37 (pp 2, dp 5) on node-09". The host only if the job has several; "" without a rank.
[[nodiscard]] std::string RankText(const Launch& launch);

// Removes names of hosts, pods and jobs. Numbers stay.
void RedactLaunches(trace::Metadata& metadata);

}  // namespace vramscope::model
