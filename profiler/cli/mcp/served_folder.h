// SPDX-License-Identifier: Apache-2.0
// The files that a client of `vramscope mcp` may name: traces and snapshots below one folder.
//
//   served: runs/        "a.vms", "day/b.vms"                  the file
//                        "../c.vms", "/etc/passwd"             refused
//                        "link.vms" -> ../secret.vms            refused: the link leads out
//                        "pipe", "day"                         refused: not a regular file
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

class ServedFolder {
 public:
  // Fails if `path` is not a folder.
  static Result<ServedFolder> Open(const std::string& path);

  // The absolute path of a file that the client names, with all links resolved. The error does not reveal
  // whether a file outside exists.
  [[nodiscard]] Result<std::string> FileNamed(const std::string& name) const;

  struct File {
    std::string name;  // relative to the folder
    uint64_t bytes = 0;
    bool is_trace = false;  // otherwise a snapshot
  };
  struct Listing {
    std::vector<File> files;  // by name
    bool complete = true;     // false: stopped at kMostFiles or kMostEntries
  };
  // Recognized by content. Links are not followed.
  [[nodiscard]] Listing Files() const;
  static constexpr size_t kMostFiles = 1000;
  static constexpr size_t kMostEntries = 100'000;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ServedFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // canonical
};

}  // namespace vramscope::cli
