// SPDX-License-Identifier: Apache-2.0
// A folder of our own for one run, gone with it.
//
// Who is killed cannot remove its folder. So each holds a lock on it (flock) for as long as it lives, which
// the kernel ends with the process, and who makes a folder removes those beside it that nobody holds any
// more.
#pragma once

#include <string>

namespace vramscope::cli {

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }  // empty: none could be made

 private:
  std::string path_;
  int lock_ = -1;
};

// Removes the folders of such runs in `place` that were ours and are nobody's: not written to for some
// seconds, and not locked.
void RemoveAbandoned(const std::string& place);

}  // namespace vramscope::cli
