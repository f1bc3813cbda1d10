// SPDX-License-Identifier: Apache-2.0
// Runs the program of a trace again with changes, in PyTorch on the simulated device.
//
//   the trace's program ─► PYTHON vramscope_program FILE --variants LIST     one import of PyTorch
//                             ├─ fork: --batch 2x                           one process for each change
//                             └─ fork: VRAMSCOPE_TRY={"amp": "bf16"}        each process's trace is a variant
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
  std::string alloc_conf;        // of the recorded run
  std::string cublas_workspace;  // CUBLAS_WORKSPACE_CONFIG of the recorded run
  std::chrono::seconds limit{300};
  std::function<void(const std::string&)> say;  // shows a message at once; may be empty
};

// `gpu_asked`: "" = the simulated GPU of the recording, or else the model with the closest memory size.
[[nodiscard]] Result<RerunSetting> SettingOf(const model::Run& run, const std::string& gpu_asked);

using Changes = std::vector<whatif::Asked>;

// One trace for each of `wanted`, in order. An error is PyTorch's message, or the reason why PyTorch was not
// run.
[[nodiscard]] std::vector<Result<trace::Bytes>> RunPrograms(std::string_view program,
                                                            std::span<const Changes> wanted,
                                                            const RerunSetting& setting);

// VRAMSCOPE_PYTHON, or python3 on PATH. Never a Python that a trace names.
[[nodiscard]] std::string RerunPython();

}  // namespace vramscope::experiment
