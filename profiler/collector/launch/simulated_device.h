// SPDX-License-Identifier: Apache-2.0
// Prepares a command to run on a simulated CUDA device: finds the libraries to preload, and their settings.
//
//   lib/vramscope/simulated_cuda/gpus.def           the GPU models
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
  int devices = 1;              // devices that one process sees
  uint64_t capacity_bytes = 0;  // memory of each device; 0 = capacity of the GPU model
  std::string ledger;           // file for the ledger; "%p" = process id; empty = no ledger
};

// Returns the folder <installation>/lib/vramscope/simulated_cuda of this executable.
Result<std::string> FindSimulatedCuda();

Result<std::vector<GpuModel>> ListGpus(const std::string& folder);

// Returns variables for the command's environment. The caller must put LD_PRELOAD and PATH before existing
// entries. Returns an error that explains what to install, if PyTorch is missing, or was built without CUDA,
// for ROCm, or for a CUDA release before 12.
Result<std::map<std::string, std::string>> SimulatedEnvironment(const std::string& folder,
                                                                std::span<const std::string> command,
                                                                const SimulatedDevice& device);

// True if the command's framework is TensorFlow.
bool UsesTensorFlow(std::span<const std::string> command);

// True if the command's framework is JAX.
bool UsesJax(std::span<const std::string> command);

// Returns the CUDA major version of the PyTorch in `root`, such as 12 or 13.
Result<int> CudaMajorOf(const std::string& root);

}  // namespace vramscope::collector
