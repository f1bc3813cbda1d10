// SPDX-License-Identifier: Apache-2.0
// The files that the processes of `vramscope fleet --mpi` can read, and the process that was chosen to read
// each file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace vramscope::cli {

// A file that a process can read.
struct Seen {
  std::string path;
  uint64_t bytes = 0;
  int64_t changed = 0;  // time of the last change; distinguishes files with equal paths on several nodes

  template <typename Archive>
  void serialize(Archive& archive, unsigned) {
    archive& path& bytes& changed;
  }
  friend bool operator<(const Seen& a, const Seen& b) {
    return std::tie(a.path, a.changed, a.bytes) < std::tie(b.path, b.changed, b.bytes);
  }
};

// For each file, the number of the process that reads it.
using Plan = std::map<Seen, int>;

}  // namespace vramscope::cli
