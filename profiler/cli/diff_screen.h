// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope diff` as text: for a terminal, and as Markdown for a pull request.
#pragma once

#include <string>

#include "profiler/cli/terminal.h"
#include "profiler/diff/compare.h"

namespace vramscope::cli {

// "Peak +1.2 GiB (11.6 GiB -> 12.8 GiB): 1 more module: blocks.2 (12 parameters), +1.1 GiB."
[[nodiscard]] std::string DiffHeadline(const diff::Diff& diff);
// The name of a category; "layers.*.mlp (12 -> 13)" if a pattern stands for several modules.
[[nodiscard]] std::string DiffCategoryName(const diff::Row& row);
[[nodiscard]] std::string DiffOwnerName(const diff::OwnerRow& row);
// "+12 %", "new", "gone".
[[nodiscard]] std::string DiffPercent(const diff::Row& row);

// At most `top` rows of each kind. The first line states the peak's change and its main cause.
[[nodiscard]] std::string DiffScreen(const diff::Side& before, const diff::Side& after,
                                     const diff::Diff& diff, size_t top, const Terminal& terminal);
[[nodiscard]] std::string DiffMarkdown(const diff::Side& before, const diff::Side& after,
                                       const diff::Diff& diff, size_t top);

}  // namespace vramscope::cli
