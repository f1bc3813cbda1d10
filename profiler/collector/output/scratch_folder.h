// SPDX-License-Identifier: Apache-2.0
// A temporary folder in TMPDIR for one run (owned_folder.h). Removed at the end, also by Ctrl-C.
#pragma once

#include <optional>
#include <string>

#include "profiler/collector/output/owned_folder.h"

namespace vramscope::collector {

class ScratchFolder {
 public:
  // First removes folders of killed runs.
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
