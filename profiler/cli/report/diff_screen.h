// SPDX-License-Identifier: Apache-2.0
// Formats the answer of `vramscope diff`: text for a terminal, and Markdown for a pull request.
#pragma once

#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/diff/compare.h"

namespace vramscope::cli {

// Both functions show at most `top` rows in each table. The first line tells how the peak changed and names
// the largest cause.
[[nodiscard]] std::string DiffScreen(const diff::Side& before, const diff::Side& after,
                                     const diff::Diff& diff, size_t top, const Terminal& terminal);
[[nodiscard]] std::string DiffMarkdown(const diff::Side& before, const diff::Side& after,
                                       const diff::Diff& diff, size_t top);

}  // namespace vramscope::cli
