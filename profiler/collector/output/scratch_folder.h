// SPDX-License-Identifier: Apache-2.0
// A folder of our own in TMPDIR for one run, removed at its end (profiler/collector/output/owned_folder.h), also if
// Ctrl-C ends this program.
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
