// SPDX-License-Identifier: Apache-2.0
// Finds what the last frame drew beyond the right edge of its window or column, where nobody can see it.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

// The names of such windows, and of such tables with the number of the column. Includes strips that scroll
// sideways, such as the tabs, when not everything fits.
[[nodiscard]] std::vector<std::string> CutParts();

}  // namespace vramscope::viewer
