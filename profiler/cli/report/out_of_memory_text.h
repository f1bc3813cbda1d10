// SPDX-License-Identifier: Apache-2.0
// Formats requests that failed with out of memory, as lines of a report: "Out of memory on cuda:0 at step 3,
// forward: 2.0 GiB were requested."
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/report/answer.h"

namespace vramscope::cli {

// Returns one line per failure, each with a line break. If there are many failures, only the first and the
// last few are listed. Returns "" if no request failed.
std::string OutOfMemoryText(std::span<const report::OutOfMemory> failures, const Terminal& terminal);

}  // namespace vramscope::cli
