// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope diff` as text: for a terminal, and as Markdown for a pull request.
#pragma once

#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/diff/compare.h"

namespace vramscope::cli {

// At most `top` rows of every kind. The first line names the peak's change and its first cause.
[[nodiscard]] std::string DiffScreen(const diff::Side& before, const diff::Side& after,
                                     const diff::Diff& diff, size_t top, const Terminal& terminal);
[[nodiscard]] std::string DiffMarkdown(const diff::Side& before, const diff::Side& after,
                                       const diff::Diff& diff, size_t top);

}  // namespace vramscope::cli
