// SPDX-License-Identifier: Apache-2.0
// Whether a run failed, and how: then its figures are those of a run that was cut short.
#pragma once

#include <string>

#include "profiler/model/run.h"

namespace vramscope::report {

// "exit 3", "killed by signal 9 (Killed)"; "" for -1, which says that nobody knows. `wait_status` as waitpid
// gives it.
[[nodiscard]] std::string ExitText(int32_t wait_status);

// A sentence when the process did not succeed: "An allocation on cuda:0 failed and ended the run (exit 1):
// ...".
// "" when it did, or when nobody knows how it ended. A process of which that is not known ended as the
// command did.
[[nodiscard]] std::string HowItFailed(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::report
