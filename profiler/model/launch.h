// SPDX-License-Identifier: Apache-2.0
// The rank, host and job of a recorded process. The collector writes these facts into the trace when the
// process starts (collector/target/launch_facts.h). If the program calls init_process_group(), its rank and
// world size take precedence over the launcher's environment variables.
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

// One dimension of a device mesh or process group: "pp 2/4" is index 2 (from 0) of 4.
struct MeshPlace {
  std::string name;
  uint32_t index = 0;
  uint32_t size = 1;

  friend bool operator==(const MeshPlace&, const MeshPlace&) = default;
};

struct Launch {
  std::optional<uint32_t> rank;
  std::optional<uint32_t> local_rank;        // rank among the processes of the host
  std::optional<uint32_t> world_size;        // number of processes of the job
  std::optional<uint32_t> local_world_size;  // number of processes of the job on the host
  std::string host;                          // "" = unknown
  std::string pod;
  std::string job;                               // id of the batch system's job, otherwise of torchrun's
  std::string gpus;                              // CUDA_VISIBLE_DEVICES
  std::vector<MeshPlace> mesh;                   // in the order in which the program created the dimensions
  std::map<uint32_t, std::string> gpu_uuids;     // key: CUDA device number in this process
  std::map<std::string, std::string> variables;  // RANK -> 37, ...

  // True if the job is known to have processes on other hosts.
  [[nodiscard]] bool on_several_hosts() const;
};

// Reads the facts of one process. Fields that the trace does not contain stay empty.
[[nodiscard]] Launch LaunchOf(const trace::Metadata& metadata, ProcessIndex process);

// Parses "pp 2/4, dp 5/8". Ignores parts with another form.
[[nodiscard]] std::vector<MeshPlace> ParseMesh(std::string_view text);
// Returns "pp 2, dp 5", or "" if there is no mesh. Omits dimensions with a single rank; at most four
// dimensions.
[[nodiscard]] std::string MeshText(const std::vector<MeshPlace>& mesh);

// Returns "rank 37" or "rank 37 (pp 2, dp 5) on node-09". The host is included only if the job has several
// hosts. Returns "" if the rank is unknown.
[[nodiscard]] std::string RankText(const Launch& launch);

// Removes the names of hosts, pods and jobs from the metadata. Numbers are not removed.
void RedactLaunches(trace::Metadata& metadata);

}  // namespace vramscope::model
