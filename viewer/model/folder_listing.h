// SPDX-License-Identifier: Apache-2.0
// Lists the files and folders that the user can open: folders, traces and snapshots.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

struct FolderEntry {
  std::string path;
  std::string name;  // a folder's name ends with '/'
  bool folder = false;
};

// Returns suggestions for `typed`, a path that the user is typing. The suggestions are the entries of the
// path's folder whose names begin with the path's last part. The order is: "..", folders by name, files by
// name. There are at most `most` entries. The result is empty if the folder does not exist.
[[nodiscard]] std::vector<FolderEntry> EntriesFor(const std::string& typed, size_t most);

}  // namespace vramscope::viewer
