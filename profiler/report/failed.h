// SPDX-License-Identifier: Apache-2.0
// Describes how a recorded run failed.
#pragma once

#include <string>

#include "profiler/model/run.h"

namespace vramscope::report {

// Describes how a process ended: "exit 3", "killed by signal 9 (Killed)". `wait_status`: from waitpid; -1 =
// unknown, for which ExitText returns "".
[[nodiscard]] std::string ExitText(int32_t wait_status);

// Returns a sentence if the process failed: "An allocation on cuda:0 failed and ended the run (exit 1): ...".
// Returns "" if the process succeeded, or if nothing is known about its end. If the process's exit status is
// unknown, uses the exit status of the recorded command.
[[nodiscard]] std::string HowItFailed(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::report
