// SPDX-License-Identifier: Apache-2.0
// A temporary folder that belongs to one process. A process that is killed leaves its folder behind;
// RemoveAbandonedFolders removes such folders.
//
// Each folder contains a marker file that names the folder and the process that created it. The process holds
// a lock on the folder until it ends:
//
//   vramscope-x7Qa2b/
//     .vramscope-owner     vramscope folder 1
//                          name vramscope-x7Qa2b inode 5317 uid 1000
//                          pid 2 started 9000 namespace 4026532417 boot 3f6c0a6e-...
//
// A folder is abandoned, and is removed, if all of these conditions are true:
//   - its marker names this very folder
//   - its owner belongs to this boot and to our pid namespace, and has ended
//   - nobody holds the lock
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

class OwnedFolder {
 public:
  // Creates and locks `root`/`prefix`XXXXXX with mode 0700.
  static Result<OwnedFolder> Create(const std::string& root, const std::string& prefix);
  OwnedFolder(OwnedFolder&& other) noexcept;
  OwnedFolder& operator=(OwnedFolder&& other) = delete;
  // Removes the folder and its contents.
  ~OwnedFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  OwnedFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;  // "" if this object was moved from
  int lock_;          // descriptor of the folder, locked
};

// Removes abandoned folders of this user in `root`.
void RemoveAbandonedFolders(const std::string& root, const std::string& prefix);

}  // namespace vramscope::collector
