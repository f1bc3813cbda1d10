// SPDX-License-Identifier: Apache-2.0
// Sends requests to the dormant recorder of a running process. A dormant recorder is loaded but does not
// record until it gets a request (injector/core/dormant.h).
#pragma once

#include <sys/types.h>

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// Sends the request `order` to the socket of process `pid` and returns the number in the answer. Returns an
// error if the process has no socket, or if another process answers.
Result<int> AskDormantRecorder(pid_t pid, const std::string& order);

}  // namespace vramscope::collector
