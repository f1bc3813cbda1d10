// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace vramscope::collector {

std::string ReadWhole(const std::string& path, size_t most) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; text.size() < most && (got = read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), std::min(static_cast<size_t>(got), most - text.size()));
  close(file);
  return text;
}

bool Exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace vramscope::collector
