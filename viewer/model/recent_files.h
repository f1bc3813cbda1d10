// SPDX-License-Identifier: Apache-2.0
// The most recently opened files, for the start screen.
//
// One path per line in $XDG_STATE_HOME/vramscope/recent (otherwise ~/.local/state/...), newest first. No
// errors are reported.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

inline constexpr size_t kMostRecentFiles = 10;

// The path of the list; "" if there is no home folder.
[[nodiscard]] std::string RecentFilesPath();
// Newest first. Only existing files.
[[nodiscard]] std::vector<std::string> RecentFiles(const std::string& list);
// Moves `path` to the front. A concurrent viewer may win. The file stays whole.
void RememberFile(const std::string& list, const std::string& path);

}  // namespace vramscope::viewer
