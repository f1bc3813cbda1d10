// SPDX-License-Identifier: Apache-2.0
// Reads `vramscope dryrun --gpu-file`: a JSON file in which the user describes GPU models that vramscope does
// not know.
//
//   {"name": "rtx-a4000", "product": "NVIDIA RTX A4000", "compute_capability": "8.6",
//    "multiprocessors": 48, ...}
//
// The file contains one such object, or a list of them. Every field of injector/simulated_cuda/gpus.def is
// required (docs/dryrun.md).
#pragma once

#include <string>
#include <vector>

#include "profiler/collector/launch/simulated_device.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// Returns the GPU models in the file. An error names the field and the GPU. The names of the `known` models
// cannot be reused.
Result<std::vector<collector::GpuModel>> ReadGpuFile(const std::string& path,
                                                     const std::vector<collector::GpuModel>& known);

// Like ReadGpuFile, but takes the text of the file. Errors name `path`.
Result<std::vector<collector::GpuModel>> ParseGpuFile(const std::string& text, const std::string& path,
                                                      const std::vector<collector::GpuModel>& known);

}  // namespace vramscope::cli
