// SPDX-License-Identifier: Apache-2.0
// A temporary folder of one run, and the removal of such folders that killed runs left behind.
//
// A folder is removed only if it is certainly ours: other programs and users create folders of any name, and
// containers share /dev/shm and TMPDIR. So the name alone proves nothing. Each folder holds a marker that
// records which folder it belongs to and which process created it. The folder is locked while that process
// lives:
//
//   vramscope-x7Qa2b/
//     .vramscope-owner     vramscope folder 1
//                          name vramscope-x7Qa2b inode 5317 uid 1000
//                          pid 2 started 9000 namespace 4026532417 boot 3f6c0a6e-...
//
// A folder is removed only if all of this holds. Its marker names this very folder (a copied or renamed
// folder is somebody's data). Its owner belongs to this boot and to our pid namespace, and has ended. Nobody
// holds the lock.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

class OwnedFolder {
 public:
  // Creates and locks `root`/`prefix`XXXXXX with mode 0700. The error sentence names `root`.
  static Result<OwnedFolder> Create(const std::string& root, const std::string& prefix);
  OwnedFolder(OwnedFolder&& other) noexcept;
  OwnedFolder& operator=(OwnedFolder&& other) = delete;
  // Removes the folder and its contents.
  ~OwnedFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  OwnedFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;  // "" = moved from
  int lock_;          // descriptor of the folder, locked
};

// Removes the folders in `root` that processes of this user left behind.
void RemoveAbandonedFolders(const std::string& root, const std::string& prefix);

}  // namespace vramscope::collector
