// SPDX-License-Identifier: Apache-2.0
// The most recently opened files, for the empty start screen.
//
// One path per line in $XDG_STATE_HOME/vramscope/recent (otherwise ~/.local/state/...), newest first. A
// convenience: nothing here reports an error, and a file that cannot be written is skipped.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

inline constexpr size_t kMostRecentFiles = 10;

// The path of the list; "" if there is no home folder.
[[nodiscard]] std::string RecentFilesPath();
// Newest first, only files that still exist.
[[nodiscard]] std::vector<std::string> RecentFiles(const std::string& list);
// Moves `path` to the front. Another viewer that writes at the same time may win; the file is whole either
// way.
void RememberFile(const std::string& list, const std::string& path);

}  // namespace vramscope::viewer
