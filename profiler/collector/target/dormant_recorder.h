// SPDX-License-Identifier: Apache-2.0
// Speaks to a recorder that sleeps in a running process (injector/core/dormant.h).
#pragma once

#include <sys/types.h>

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// Says `order` at the door of process `pid` and gives the number that comes back. An error in one sentence
// when the process has no door, or another one answers.
Result<int> AskDormantRecorder(pid_t pid, const std::string& order);

}  // namespace vramscope::collector
