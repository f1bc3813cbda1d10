// SPDX-License-Identifier: Apache-2.0
// Lists what can be opened in a folder: folders, traces and snapshots.
#pragma once

#include <string>
#include <vector>

namespace vramscope::viewer {

struct FolderEntry {
  std::string path;
  std::string name;  // folders end with '/'
  bool folder = false;
};

// `typed`: a path that is being typed. Returns the entries of its folder whose names begin with its last
// part. Order: ".." and folders, then files, each by name. At most `most`. Empty if there is no such folder.
[[nodiscard]] std::vector<FolderEntry> EntriesFor(const std::string& typed, size_t most);

}  // namespace vramscope::viewer
