// SPDX-License-Identifier: Apache-2.0
// Functions for the verbs that start, find or watch a process. These verbs work on Linux only. The other
// verbs only read files: AnsweringVerbs().
#pragma once

#include <sys/types.h>

#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// The process that the user names for a verb such as attach or stop. `example`: a correct command, shown in
// the error.
Result<pid_t> PidFrom(const Arguments& arguments, const std::string& example);

// Number of bytes that are shown from the end of a failed command's output.
inline constexpr size_t kLogShown = 2000;
// Exits with the command's exit status; if a signal killed the command, the same signal kills this program.
int ExitAsCommand(int wait_status);

}  // namespace vramscope::cli
