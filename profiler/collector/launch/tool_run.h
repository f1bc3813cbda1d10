// SPDX-License-Identifier: Apache-2.0
// Runs a tool of this machine (Python, the dynamic loader, a compiler) until it exits, and returns its
// output.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

struct ToolEnd {
  std::string output;  // standard output, at most 1 MiB
  int exit_code = 0;
  uint64_t most_resident_bytes = 0;  // peak memory of the tool or of its largest child
};
// Runs a tool with /dev/null as stdin. stderr goes to the file `log`, if `log` is not empty. Returns an error
// if the tool cannot be started, is killed, or takes longer than `limit`. Thread-safe.
Result<ToolEnd> RunToolToItsEnd(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                                const std::string& log = {});

// Like RunToolToItsEnd, but returns the tool's standard output. Exit codes other than 0 are errors too. The
// first argument is the path of the tool.
Result<std::string> RunTool(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                            const std::string& log = {});

}  // namespace vramscope::collector
