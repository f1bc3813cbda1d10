// SPDX-License-Identifier: Apache-2.0
// Finds what the last frame drew beyond the right edge of its window or column, where nobody can see it.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

// The names of these windows, and of these tables with the number of the column. Strips that scroll sideways,
// such as the tabs, are among them when not everything fits.
[[nodiscard]] std::vector<std::string> CutParts();

}  // namespace vramscope::viewer
