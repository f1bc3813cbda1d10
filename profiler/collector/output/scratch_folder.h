// SPDX-License-Identifier: Apache-2.0
// A temporary folder in TMPDIR for one run. It is removed at the end, even if Ctrl-C ends this program
// (profiler/collector/output/owned_folder.h).
#pragma once

#include <optional>
#include <string>

#include "profiler/collector/output/owned_folder.h"

namespace vramscope::collector {

class ScratchFolder {
 public:
  // First removes folders of runs that were killed.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string path() const {
    return folder_ ? folder_->path() : "";
  }  // empty: could not be created

 private:
  std::optional<OwnedFolder> folder_;
};

}  // namespace vramscope::collector
