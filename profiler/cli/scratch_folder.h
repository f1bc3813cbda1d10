// SPDX-License-Identifier: Apache-2.0
// A folder of our own in TMPDIR for one run, gone with it (profiler/collector/owned_folder.h).
#pragma once

#include <optional>
#include <string>

#include "profiler/collector/owned_folder.h"

namespace vramscope::cli {

class ScratchFolder {
 public:
  // Removes the folders of runs that were killed first.
  ScratchFolder();
  [[nodiscard]] std::string path() const {
    return folder_ ? folder_->path() : "";
  }  // empty: none could be made

 private:
  std::optional<collector::OwnedFolder> folder_;
};

}  // namespace vramscope::cli
