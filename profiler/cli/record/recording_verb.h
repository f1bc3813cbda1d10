// SPDX-License-Identifier: Apache-2.0
// Functions for the verbs that start, find or watch a process. The functions work on Linux only.
#pragma once

#include <sys/types.h>

#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// Returns the process ID that the user gives. `example` is a correct command, which the error shows.
Result<pid_t> PidFrom(const Arguments& arguments, const std::string& example);

// Number of bytes that are shown from the end of a failed command's output.
inline constexpr size_t kLogShown = 2000;
// Ends vramscope as the recorded command ended: with the command's exit status, or with the signal that
// killed the command. `wait_status` is the result of waitpid.
int ExitAsCommand(int wait_status);

}  // namespace vramscope::cli
