// SPDX-License-Identifier: Apache-2.0
// Whether and how a run failed. The figures of a failed run describe a run that was cut short.
#pragma once

#include <string>

#include "profiler/model/run.h"

namespace vramscope::report {

// "exit 3", "killed by signal 9 (Killed)"; "" for -1, which means unknown. `wait_status` as waitpid returns
// it.
[[nodiscard]] std::string ExitText(int32_t wait_status);

// Returns a sentence if the process failed: "An allocation on cuda:0 failed and ended the run (exit 1): ...".
// "" if it succeeded, or if its end is unknown. A process whose exit status is unknown gets that of the
// command.
[[nodiscard]] std::string HowItFailed(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::report
