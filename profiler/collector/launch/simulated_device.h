// SPDX-License-Identifier: Apache-2.0
// How to run a command on a simulated CUDA device: the libraries to preload, and their settings.
//
//   lib/vramscope/simulated_cuda/gpus.def           the models
//                                cuda12/, cuda13/   the libraries; a wheel of CUDA 12 asks for other sonames
//                                                   than one of CUDA 13
//
// Why the command's torch is checked before it starts: the loader would ignore libraries of the wrong
// release. The program would then fail with a message about a missing library that does not help its user.
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

// The models of the table in `folder`, in table order.
Result<std::vector<GpuModel>> ListGpus(const std::string& folder);

// Variables for the command's environment, including LD_PRELOAD and PATH (to be put before existing entries).
// An error names the problem with the command's PyTorch and what to install: built without CUDA, for ROCm,
// for a CUDA before 12, or no PyTorch at all.
Result<std::map<std::string, std::string>> SimulatedEnvironment(const std::string& folder,
                                                                std::span<const std::string> command,
                                                                const SimulatedDevice& device);

// True if the command's framework is TensorFlow. False also if it has none.
bool UsesTensorFlow(std::span<const std::string> command);

// True if the command's framework is JAX. False also if it has none.
bool UsesJax(std::span<const std::string> command);

// The CUDA release, such as 12 or 13, that the torch in `root` was built for, according to its files.
Result<int> CudaMajorOf(const std::string& root);

}  // namespace vramscope::collector
