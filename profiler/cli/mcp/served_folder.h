// SPDX-License-Identifier: Apache-2.0
// The files that a client of `vramscope mcp` may name: traces and snapshots below one folder.
//
//   served: runs/        "a.vms", "day/b.vms"                  the file
//                        "../c.vms", "/etc/passwd"             refused
//                        "link.vms" -> ../secret.vms            refused: the link points outside
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

  // Returns the absolute path of the file `name`, with all links resolved. The error does not reveal whether
  // a file outside the folder exists.
  [[nodiscard]] Result<std::string> FileNamed(const std::string& name) const;

  struct File {
    std::string name;  // relative to the folder
    uint64_t bytes = 0;
    bool is_trace = false;  // otherwise a snapshot
  };
  struct Listing {
    std::vector<File> files;  // in order of name
    bool complete = true;     // false: the search stopped at kMostFiles or kMostEntries
  };
  // Returns the traces and snapshots in the folder and its subfolders, recognized by their content. Does not
  // follow links.
  [[nodiscard]] Listing Files() const;
  static constexpr size_t kMostFiles = 1000;
  static constexpr size_t kMostEntries = 100'000;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ServedFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // canonical
};

}  // namespace vramscope::cli
