// SPDX-License-Identifier: Apache-2.0
// A GPU that is not in the table, described by the user in a small JSON file: `vramscope dryrun --gpu-file`.
//
//   {"name": "rtx-a4000", "product": "NVIDIA RTX A4000", "compute_capability": "8.6",
//    "multiprocessors": 48, ...}
//
// or a list of such objects. The fields are the same as in injector/simulated_cuda/gpus.def; docs/dryrun.md
// explains them. All are required: with a guessed value the answer would be about another GPU.
#pragma once

#include <string>
#include <vector>

#include "profiler/collector/launch/simulated_device.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// The GPUs in the file. The error names the field and the GPU, and what the field should be. `known`: the
// models of the table, whose names cannot be reused.
Result<std::vector<collector::GpuModel>> ReadGpuFile(const std::string& path,
                                                     const std::vector<collector::GpuModel>& known);

// Like ReadGpuFile, for the text of the file; errors name `path`.
Result<std::vector<collector::GpuModel>> ParseGpuFile(const std::string& text, const std::string& path,
                                                      const std::vector<collector::GpuModel>& known);

}  // namespace vramscope::cli
