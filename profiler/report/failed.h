// SPDX-License-Identifier: Apache-2.0
// Whether and how a run failed.
#pragma once

#include <string>

#include "profiler/model/run.h"

namespace vramscope::report {

// "exit 3", "killed by signal 9 (Killed)"; "" for -1, which means unknown. `wait_status`: from waitpid.
[[nodiscard]] std::string ExitText(int32_t wait_status);

// "An allocation on cuda:0 failed and ended the run (exit 1): ..." if the process failed. "" if it succeeded,
// or if its end is unknown. If its exit status is unknown, that of the command counts.
[[nodiscard]] std::string HowItFailed(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::report
