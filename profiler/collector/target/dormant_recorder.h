// SPDX-License-Identifier: Apache-2.0
// Sends requests to a dormant recorder in a running process (injector/core/dormant.h).
#pragma once

#include <sys/types.h>

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// Sends `order` to the socket of process `pid` and returns the number that it answers. An error if the
// process has no socket, or another process answers.
Result<int> AskDormantRecorder(pid_t pid, const std::string& order);

}  // namespace vramscope::collector
