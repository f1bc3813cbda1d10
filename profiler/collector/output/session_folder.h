// SPDX-License-Identifier: Apache-2.0
// The folder in which target processes create their ring files (trace_format/ring.h), mode 0700.
//
// Its lock (owned_folder.h) also shows that the collector lives. Targets check the lock, because the
// collector's pid means nothing in another pid namespace.
//
// Where it lies, and how much space it may take: the rings must never take what the recorded program needs.
// Docker gives a container 64 MiB of /dev/shm, and DataLoader workers need all of it.
//
//   1. /dev/shm, if both 1/32 of its size and 1/8 of its free space are at least 64 MiB. Rings may take the
//      smaller of the two.
//   2. TMPDIR, then /tmp, by the same rule. There the rings lie in the page cache, which is written back at
//      times.
//   3. Otherwise the folder with the most room, with smaller rings. They may take 1/16 of its size, or 1/8 of
//      its free space if that is less.
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
  // Removes this user's folders of dead collectors, then creates a new one.
  static Result<std::unique_ptr<SessionFolder>> Create();
  // Like Create, in the best of `roots`, by the rules above.
  static Result<std::unique_ptr<SessionFolder>> CreateIn(const std::vector<std::string>& roots);
  // Removes the folder and its contents. Running targets keep what they have mapped; new processes find no
  // folder and are not recorded.
  ~SessionFolder() = default;
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  explicit SessionFolder(OwnedFolder folder) : folder_(std::move(folder)) {}

  OwnedFolder folder_;
};

}  // namespace vramscope::collector
