// SPDX-License-Identifier: Apache-2.0
// Finds the program that a command starts, and says before it is started why it could not be recorded.
//
// Why before: the dynamic loader ignores LD_PRELOAD silently for a setuid program and is not there in a
// static one. A run that was to be recorded and was not is found out hours later.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// The file that execvp would start for `command`: through PATH when there is no '/' in it.
Result<std::string> FindProgram(const std::string& command);

// An error when the program at `path` cannot be started with the recorder: setuid, setgid or with file
// capabilities, for another architecture or C library. A value that is not empty is a sentence for the user:
// a statically linked program runs, unrecorded itself, but what it starts is recorded (launchers are often
// static). A script is judged by its interpreter.
Result<std::string> CheckRecordable(const std::string& path);

}  // namespace vramscope::collector
