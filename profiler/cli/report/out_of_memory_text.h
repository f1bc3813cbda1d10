// SPDX-License-Identifier: Apache-2.0
// The requests that failed, as lines of a report: "Out of memory on cuda:0 at step 3, forward: 2 GiB were
// asked for."
//
// A server that catches its errors can have millions of them: the first and the last few are shown, for these
// tell how it began and how it ended.
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/report/answer.h"

namespace vramscope::cli {

// One line each, with a line break; "" when nothing failed.
std::string OutOfMemoryText(std::span<const report::OutOfMemory> failures, const Terminal& terminal);

}  // namespace vramscope::cli
