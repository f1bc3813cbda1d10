// SPDX-License-Identifier: Apache-2.0
// Finds the program that a command starts, and reports before the start if it cannot be recorded. The dynamic
// loader silently ignores LD_PRELOAD for a setuid program. A static program has no dynamic loader.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// Returns the path of the file that execvp would start for `command`.
Result<std::string> FindProgram(const std::string& command);

// Checks whether the program at `path` can be recorded. For a script, checks its interpreter. Returns:
//   - an error if the recorder cannot be loaded: setuid, setgid, file capabilities, another architecture or C
//     library;
//   - a warning if the program is statically linked. The program itself is then not recorded, but programs
//     that it starts are recorded;
//   - "" otherwise.
Result<std::string> CheckRecordable(const std::string& path);

}  // namespace vramscope::collector
