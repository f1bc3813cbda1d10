// SPDX-License-Identifier: Apache-2.0
// A GPU that is not in the table, described by its user in a small JSON file: `vramscope dryrun --gpu-file`.
//
//   {"name": "rtx-a4000", "product": "NVIDIA RTX A4000", "compute_capability": "8.6",
//    "multiprocessors": 48, ...}
//
// or a list of such. The fields are those of injector/simulated_cuda/gpus.def; docs/dryrun.md explains them.
// All are needed, because a guess about a GPU would be an answer about another one.
#pragma once

#include <string>
#include <vector>

#include "profiler/collector/simulated_device.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// The GPUs in the file. An error says which field of which GPU is wrong, and what it should be. `known` are
// the models of the table: a name stands for one GPU.
Result<std::vector<collector::GpuModel>> ReadGpuFile(const std::string& path,
                                                     const std::vector<collector::GpuModel>& known);

// The same for the file's text; `path` names it in errors.
Result<std::vector<collector::GpuModel>> ParseGpuFile(const std::string& text, const std::string& path,
                                                      const std::vector<collector::GpuModel>& known);

}  // namespace vramscope::cli
