// SPDX-License-Identifier: Apache-2.0
// Finds the program that a command starts, and reports before the start if it cannot be recorded. The dynamic
// loader silently ignores LD_PRELOAD for a setuid program. A static program has no dynamic loader.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// The file that execvp would start for `command`.
Result<std::string> FindProgram(const std::string& command);

// An error if the program at `path` cannot be started with the recorder. Causes: setuid, setgid, file
// capabilities, another architecture or C library. A non-empty value warns of a statically linked program.
// Such a program runs unrecorded, but programs that it starts are recorded. For a script its interpreter is
// checked.
Result<std::string> CheckRecordable(const std::string& path);

}  // namespace vramscope::collector
