// SPDX-License-Identifier: Apache-2.0
// Finds windows and table columns whose content exceeds the right edge in the last frame, so that a part is
// not visible.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

// Returns the names of these windows, and of these tables with the column number. The result includes strips
// that scroll sideways, such as the tabs, if their content does not fit.
[[nodiscard]] std::vector<std::string> CutParts();

}  // namespace vramscope::viewer
