// SPDX-License-Identifier: Apache-2.0
// The GPUs that can be simulated: the rows of gpus.def as values.
//
// Why not in simulated_device.h: the viewer in a browser needs the table, but has no simulated device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::collector {

struct GpuModel {
  std::string name;     // "h100-80gb"
  std::string product;  // "NVIDIA H100 80GB HBM3"
  uint64_t capacity_bytes = 0;
  uint64_t context_bytes = 0;  // what a process takes before its first allocation
  // For a GPU that is not in the table: its row, in the form that the device reads, with ';' between the
  // fields. Otherwise empty.
  std::string description;
  int compute_capability = 0;  // 89
  // The source of the memory size, as one phrase: "out-of-memory messages", "24 GiB nominal, less 4 %".
  std::string memory_source;
  bool by_capacity = false;  // not a CUDA device: only the memory size is that of the GPU
};

// The models of the table's text, in its order; other lines are skipped.
std::vector<GpuModel> ParseGpus(const std::string& rows);

}  // namespace vramscope::collector
