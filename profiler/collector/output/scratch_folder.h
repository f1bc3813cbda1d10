// SPDX-License-Identifier: Apache-2.0
// A temporary folder in TMPDIR for one run (owned_folder.h). The destructor or Ctrl-C removes the folder.
#pragma once

#include <optional>
#include <string>

#include "profiler/collector/output/owned_folder.h"

namespace vramscope::collector {

class ScratchFolder {
 public:
  // Creates the folder. First removes the folders of killed runs.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string path() const {
    return folder_ ? folder_->path() : "";
  }  // "" if the folder could not be created

 private:
  std::optional<OwnedFolder> folder_;
};

}  // namespace vramscope::collector
