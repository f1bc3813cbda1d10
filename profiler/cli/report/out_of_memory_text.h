// SPDX-License-Identifier: Apache-2.0
// Failed requests as lines of a report: "Out of memory on cuda:0 at step 3, forward: 2.0 GiB were requested."
//
// Only the first and the last few are printed.
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/report/answer.h"

namespace vramscope::cli {

// One line per failure, each with a line break; "" if nothing failed.
std::string OutOfMemoryText(std::span<const report::OutOfMemory> failures, const Terminal& terminal);

}  // namespace vramscope::cli
