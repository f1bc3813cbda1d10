// SPDX-License-Identifier: Apache-2.0
// Runs a small program of the machine (the user's Python, the dynamic loader, a compiler) until it exits and
// returns its output.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

// Returns the standard output of `arguments` (the first is a path), at most 1 MiB. stdin is /dev/null; stderr
// goes to the file `log`, or nowhere if that is empty. An error if it cannot be started, does not exit with
// 0, or is killed after `limit`.
Result<std::string> RunTool(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                            const std::string& log = {});

}  // namespace vramscope::collector
