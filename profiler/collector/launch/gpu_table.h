// SPDX-License-Identifier: Apache-2.0
// The GPUs that can be simulated: the rows of gpus.def as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::collector {

struct GpuModel {
  std::string name;     // "h100-80gb"
  std::string product;  // "NVIDIA H100 80GB HBM3"
  uint64_t capacity_bytes = 0;
  uint64_t context_bytes = 0;  // used before the first allocation of a process
  // For a GPU that is not in gpus.def: its fields, separated by ';'. Otherwise empty.
  std::string description;
  int compute_capability = 0;  // 89
  // Source of the memory size: "out-of-memory messages", "24 GiB nominal, minus 4 %".
  std::string memory_source;
  bool by_capacity = false;  // true: not a CUDA device; only the memory size is simulated
};

// Returns the models in the order of the rows. Lines that are not rows are skipped.
std::vector<GpuModel> ParseGpus(const std::string& rows);

}  // namespace vramscope::collector
