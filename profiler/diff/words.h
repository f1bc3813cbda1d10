// SPDX-License-Identifier: Apache-2.0
// Texts of the comparison of two runs, for `vramscope diff` and the viewer.
#pragma once

#include <string>

#include "profiler/diff/compare.h"

namespace vramscope::diff {

// Returns the first line: "Peak +1.2 GiB (11.6 GiB -> 12.8 GiB): 1 more module: blocks.2 (12 parameters),
// +1.1 GiB."
[[nodiscard]] std::string Headline(const Diff& diff);
// The category's name in the words of the run's framework.
[[nodiscard]] std::string CategoryName(const Diff& diff, const Row& row);
// Returns the owner's name. If the name is a pattern, the number of modules in both runs follows:
// "layers.*.mlp (12 -> 13)".
[[nodiscard]] std::string OwnerName(const OwnerRow& row);
// Returns the change of the row: "+12 %". "new" or "gone" if only one run has the row.
[[nodiscard]] std::string PercentText(const Row& row);

}  // namespace vramscope::diff
