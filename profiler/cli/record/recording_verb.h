// SPDX-License-Identifier: Apache-2.0
// Functions for the verbs that start, find or watch a process. Linux only.
#pragma once

#include <sys/types.h>

#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// The process ID that the user gives. `example`: a correct command, shown in the error.
Result<pid_t> PidFrom(const Arguments& arguments, const std::string& example);

// Bytes shown from the end of a failed command's output.
inline constexpr size_t kLogShown = 2000;
// Exits with the command's exit status, or with the signal that killed the command.
int ExitAsCommand(int wait_status);

}  // namespace vramscope::cli
