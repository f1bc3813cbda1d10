// SPDX-License-Identifier: Apache-2.0
// The folder in which target processes make their ring files (trace_format/ring.h): /dev/shm, else TMPDIR,
// mode 0700.
//
// A collector holds a lock on its folder as long as it lives. That tells folders left behind by killed
// collectors from folders in use, also where pids mean nothing (containers that share /dev/shm) or were used
// again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

class SessionFolder {
 public:
  // Removes this user's folders of dead collectors, then makes a new one.
  static Result<std::unique_ptr<SessionFolder>> Create();
  // In the first of `roots` where it can be made and mapped from.
  static Result<std::unique_ptr<SessionFolder>> CreateIn(const std::vector<std::string>& roots);
  // Removes the folder and all in it. Targets that still run keep what they have mapped; new processes find
  // no folder and go unrecorded.
  ~SessionFolder();
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  SessionFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;  // descriptor of the folder, locked
};

}  // namespace vramscope::collector
