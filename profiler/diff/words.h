// SPDX-License-Identifier: Apache-2.0
// The words of a comparison, as the command and the viewer show them.
#pragma once

#include <string>

#include "profiler/diff/compare.h"

namespace vramscope::diff {

// The first line: "Peak +1.2 GiB (11.6 GiB -> 12.8 GiB): 1 more module: blocks.2 (12 parameters), +1.1 GiB."
[[nodiscard]] std::string Headline(const Diff& diff);
// The category's name in the words of the run's framework.
[[nodiscard]] std::string CategoryName(const Diff& diff, const Row& row);
// With the number of modules for a pattern: "layers.*.mlp (12 -> 13)".
[[nodiscard]] std::string OwnerName(const OwnerRow& row);
// "+12 %", "new", "gone".
[[nodiscard]] std::string PercentText(const Row& row);

}  // namespace vramscope::diff
