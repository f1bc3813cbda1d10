// SPDX-License-Identifier: Apache-2.0
// Re-runs the program of a trace with changes: PyTorch runs it again on the simulated GPU (docs/rerun.md).
//
//   the trace's program ─► PYTHON vramscope_program FILE --variants LIST     PyTorch is imported once
//                             ├─ fork: --batch 2x                           one process for each element of
//                             └─ fork: VRAMSCOPE_TRY={"amp": "bf16"}        LIST; each writes one trace
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/experiment/dryrun/dryrun_run.h"
#include "profiler/experiment/program_head.h"
#include "profiler/experiment/question.h"
#include "trace_format/bytes.h"

namespace vramscope::experiment {

struct RerunSetting {
  collector::GpuModel gpu;
  std::string simulated_folder;
  std::string alloc_conf;        // PYTORCH_CUDA_ALLOC_CONF of the recorded run
  std::string cublas_workspace;  // CUBLAS_WORKSPACE_CONFIG of the recorded run
  std::chrono::seconds limit{300};
  std::function<void(const std::string&)> say;  // shows a progress message to the user; may be empty
};

// Returns the setting for re-runs of a recorded run. `gpu_asked`: name of the GPU model; "" = the simulated
// GPU of the recording, or the model with the closest memory size if the recording was made on a real GPU.
[[nodiscard]] Result<RerunSetting> SettingOf(const model::Run& run, const std::string& gpu_asked);

using Changes = std::vector<whatif::Asked>;

// Re-runs `program` once for each element of `wanted`. Returns one trace for each element, in the same order.
// An error contains PyTorch's message, or the reason why PyTorch was not run.
[[nodiscard]] std::vector<Result<trace::Bytes>> RunPrograms(std::string_view program,
                                                            std::span<const Changes> wanted,
                                                            const RerunSetting& setting);

// Returns the Python that runs PyTorch: VRAMSCOPE_PYTHON if it is set, otherwise python3 on PATH. The path of
// a Python in a trace is not used, because a trace may come from somebody else.
[[nodiscard]] std::string RerunPython();

}  // namespace vramscope::experiment
