// SPDX-License-Identifier: Apache-2.0
// The session folder, in which the recorded processes create their ring files (trace_format/ring.h). Its mode
// is 0700. While the folder is locked (owned_folder.h), recorded processes know that the collector runs.
//
// The rings must leave enough space for the recorded program. For example, Docker gives a container 64 MiB of
// /dev/shm, and DataLoader workers need all of it. The folder is created in the first place that meets its
// condition:
//
//   1. /dev/shm, if both 1/32 of its size and 1/8 of its free space are at least 64 MiB. Rings may take the
//      smaller of these two amounts, at most 16 GiB.
//   2. TMPDIR or /tmp, under the same condition.
//   3. The one of these folders in which rings may take most. Here, rings may take 1/16 of the size or 1/8 of
//      the free space, whichever is less.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/collector/output/owned_folder.h"
#include "trace_format/result.h"

namespace vramscope::collector {

class SessionFolder {
 public:
  // Creates the folder. First removes folders of this user whose collectors have ended.
  static Result<std::unique_ptr<SessionFolder>> Create();
  // Creates the folder in one of the folders `roots`, by the rules above.
  static Result<std::unique_ptr<SessionFolder>> CreateIn(const std::vector<std::string>& roots);
  // Removes the folder. Running processes keep the rings that they have mapped. New processes are not
  // recorded.
  ~SessionFolder() = default;
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  explicit SessionFolder(OwnedFolder folder) : folder_(std::move(folder)) {}

  OwnedFolder folder_;
};

}  // namespace vramscope::collector
