// SPDX-License-Identifier: Apache-2.0
// A temporary folder of one run, and the removal of those that killed runs left behind.
//
// What is removed must be ours for certain: other programs and users make folders of any name, and containers
// share /dev/shm and TMPDIR. So a name decides nothing. Each folder holds a marker that says which folder it
// is for and which process made it, and is locked while that process lives:
//
//   vramscope-x7Qa2b/
//     .vramscope-owner     vramscope folder 1
//                          name vramscope-x7Qa2b inode 5317 uid 1000
//                          pid 2 started 9000 namespace 4026532417 boot 3f6c0a6e-...
//
// A folder is removed only if its marker names this very folder (a copy or a renamed one is somebody's data),
// its owner is of this boot and of our pid namespace and has ended, and nobody holds the lock.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

class OwnedFolder {
 public:
  // Makes and locks `root`/`prefix`XXXXXX with mode 0700. The sentence names `root`.
  static Result<OwnedFolder> Create(const std::string& root, const std::string& prefix);
  OwnedFolder(OwnedFolder&& other) noexcept;
  OwnedFolder& operator=(OwnedFolder&& other) = delete;
  // Removes the folder and all in it.
  ~OwnedFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  OwnedFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;  // "" = moved from
  int lock_;          // descriptor of the folder, locked
};

// Removes the folders in `root` that processes of this user have left behind.
void RemoveAbandonedFolders(const std::string& root, const std::string& prefix);

}  // namespace vramscope::collector
