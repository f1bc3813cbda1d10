// SPDX-License-Identifier: Apache-2.0
// Finds the program that a command starts, and reports before the start if it could not be recorded.
//
// Why before: the dynamic loader silently ignores LD_PRELOAD for a setuid program, and a static program has
// no dynamic loader. Otherwise the user would find out hours later that the run was not recorded.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// The file that execvp would start for `command`: searched on PATH if it contains no '/'.
Result<std::string> FindProgram(const std::string& command);

// An error if the program at `path` cannot be started with the recorder: setuid, setgid or with file
// capabilities, or for another architecture or C library. A non-empty value is a sentence for the user: a
// statically linked program runs unrecorded, but what it starts is recorded (launchers are often static). For
// a script its interpreter is checked.
Result<std::string> CheckRecordable(const std::string& path);

}  // namespace vramscope::collector
