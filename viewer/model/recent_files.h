// SPDX-License-Identifier: Apache-2.0
// The most recently opened files, for the start screen.
//
// The list is the file $XDG_STATE_HOME/vramscope/recent (~/.local/state/vramscope/recent if XDG_STATE_HOME is
// not set). It has one path per line, the newest first. Errors are ignored.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

inline constexpr size_t kMostRecentFiles = 10;

// Returns the path of the list; "" if there is no home folder.
[[nodiscard]] std::string RecentFilesPath();
// Returns the existing files of the list, the newest first. `list`: path of the list.
[[nodiscard]] std::vector<std::string> RecentFiles(const std::string& list);
// Adds `path` at the front of the list, or moves it there. If two viewers change the list at the same time,
// one change may be lost, but the list stays valid.
void RememberFile(const std::string& list, const std::string& path);

}  // namespace vramscope::viewer
