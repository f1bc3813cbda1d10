// SPDX-License-Identifier: Apache-2.0
// The folder in which target processes create their ring files (trace_format/ring.h), mode 0700. Its lock
// (owned_folder.h) also shows to targets that the collector lives.
//
// The rings must leave enough space for the recorded program. Docker gives a container 64 MiB of /dev/shm,
// and DataLoader workers need all of it. So the folder is:
//
//   1. in /dev/shm, if both 1/32 of its size and 1/8 of its free space are at least 64 MiB. Rings may take
//      the smaller of the two.
//   2. in TMPDIR or /tmp, by the same rule.
//   3. otherwise where most space is free. Rings may take 1/16 of the size, or 1/8 of the free space if that
//      is less.
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
  // Removes this user's folders of dead collectors first.
  static Result<std::unique_ptr<SessionFolder>> Create();
  // In the best of `roots`, by the rules above.
  static Result<std::unique_ptr<SessionFolder>> CreateIn(const std::vector<std::string>& roots);
  // Removes the folder. Running targets keep what they have mapped. New processes are not recorded.
  ~SessionFolder() = default;
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  explicit SessionFolder(OwnedFolder folder) : folder_(std::move(folder)) {}

  OwnedFolder folder_;
};

}  // namespace vramscope::collector
