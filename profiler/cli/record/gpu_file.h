// SPDX-License-Identifier: Apache-2.0
// A GPU that is not in the table, described by the user in a JSON file: `vramscope dryrun --gpu-file`.
//
//   {"name": "rtx-a4000", "product": "NVIDIA RTX A4000", "compute_capability": "8.6",
//    "multiprocessors": 48, ...}
//
// The file has one such object or a list. All fields of injector/simulated_cuda/gpus.def are required
// (docs/dryrun.md).
#pragma once

#include <string>
#include <vector>

#include "profiler/collector/launch/simulated_device.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// The GPUs in the file. The error names the field and the GPU. `known`: models whose names cannot be reused.
Result<std::vector<collector::GpuModel>> ReadGpuFile(const std::string& path,
                                                     const std::vector<collector::GpuModel>& known);

// Like ReadGpuFile, for the text of the file; errors name `path`.
Result<std::vector<collector::GpuModel>> ParseGpuFile(const std::string& text, const std::string& path,
                                                      const std::vector<collector::GpuModel>& known);

}  // namespace vramscope::cli
