// SPDX-License-Identifier: Apache-2.0
// How to run a command on a simulated CUDA device: the libraries to preload, and their settings.
//
//   lib/vramscope/simulated_cuda/gpus.def           the models
//                                cuda12/, cuda13/   the libraries, with the sonames of that CUDA release
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "profiler/collector/launch/gpu_table.h"
#include "trace_format/result.h"

namespace vramscope::collector {

struct SimulatedDevice {
  GpuModel gpu;
  int devices = 1;              // of one process
  uint64_t capacity_bytes = 0;  // of each device; 0 = the model's own
  std::string ledger;           // a file name with "%p"; empty = none
};

// <installation>/lib/vramscope/simulated_cuda of this executable.
Result<std::string> FindSimulatedCuda();

Result<std::vector<GpuModel>> ListGpus(const std::string& folder);

// Variables for the command's environment. LD_PRELOAD and PATH are to be put before existing entries. An
// error explains what to install. Causes: PyTorch is missing, or was built without CUDA, for ROCm, or for a
// CUDA before 12.
Result<std::map<std::string, std::string>> SimulatedEnvironment(const std::string& folder,
                                                                std::span<const std::string> command,
                                                                const SimulatedDevice& device);

// True if the command's framework is TensorFlow.
bool UsesTensorFlow(std::span<const std::string> command);

// True if the command's framework is JAX.
bool UsesJax(std::span<const std::string> command);

// The CUDA release of the torch in `root`, such as 12 or 13.
Result<int> CudaMajorOf(const std::string& root);

}  // namespace vramscope::collector
