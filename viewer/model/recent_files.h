// SPDX-License-Identifier: Apache-2.0
// The files that were opened last, for the empty start screen.
//
// One path a line in $XDG_STATE_HOME/vramscope/recent (else ~/.local/state/...), newest first. A convenience:
// nothing here ever fails aloud, and a file that cannot be written is not.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

inline constexpr size_t kMostRecentFiles = 10;

// Where they are remembered; "" where there is no home.
[[nodiscard]] std::string RecentFilesPath();
// Newest first, only files that still exist.
[[nodiscard]] std::vector<std::string> RecentFiles(const std::string& list);
// `path` comes to the front. Another viewer that writes at the same time may win; the file is whole either
// way.
void RememberFile(const std::string& list, const std::string& path);

}  // namespace vramscope::viewer
