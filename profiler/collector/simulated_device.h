// SPDX-License-Identifier: Apache-2.0
// Puts a simulated CUDA device under a command: which libraries to preload, and what they are told.
//
//   lib/vramscope/simulated_cuda/gpus.def           the models
//                                cuda12/, cuda13/   the libraries; a wheel of CUDA 12 asks for other sonames
//                                                   than one of CUDA 13
//
// Why the torch of the command is looked at before it starts: libraries of the wrong release would be ignored
// by the loader, and the program would fail with a message about a missing library that says nothing to its
// user.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

struct GpuModel {
  std::string name;     // "h100-80gb"
  std::string product;  // "NVIDIA H100 80GB HBM3"
  uint64_t capacity_bytes = 0;
  uint64_t context_bytes = 0;  // what a process takes before its first allocation
  // Of a GPU that is not in the table: its row, for the device, with ';' between the fields. Else empty.
  std::string description;
  int compute_capability = 0;  // 89
  // How the memory is known, as one phrase: "out-of-memory messages", "24 GiB nominal, less 4 %".
  std::string memory_source;
  bool by_capacity = false;  // no CUDA device: only its memory is that of the GPU
};

struct SimulatedDevice {
  GpuModel gpu;
  int devices = 1;
  uint64_t capacity_bytes = 0;  // of each device; 0 = the model's own
  std::string ledger;           // a file name with "%p"; empty = none
};

// <installation>/lib/vramscope/simulated_cuda of this executable.
Result<std::string> FindSimulatedCuda();

// The models of the table in `folder`, in its order.
Result<std::vector<GpuModel>> ListGpus(const std::string& folder);

// Variables for the command's environment, LD_PRELOAD and PATH among them (to be put before what is there).
// An error says what is wrong with the command's PyTorch and what to install: one without CUDA code, for
// ROCm, for a CUDA before 12, or none at all.
Result<std::map<std::string, std::string>> SimulatedEnvironment(const std::string& folder,
                                                                std::span<const std::string> command,
                                                                const SimulatedDevice& device);

// "12", "13": the CUDA release that the torch in `root` was built for, from its files.
Result<int> CudaMajorOf(const std::string& root);

}  // namespace vramscope::collector
