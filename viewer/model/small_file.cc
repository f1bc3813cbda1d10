// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/small_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace vramscope::viewer {
namespace {

// All folders on the way to the file; errors appear when the file is written.
void MakeFoldersOf(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0777);
}

}  // namespace

std::optional<std::string> ReadSmallFile(const std::string& path, size_t most) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text(std::min(static_cast<size_t>(facts.st_size), most), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

bool WriteSmallFile(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

bool ReplaceSmallFile(const std::string& path, std::string_view text) {
  MakeFoldersOf(path);
  const std::string fresh = path + "." + std::to_string(getpid());
  if (WriteSmallFile(fresh, text) && std::rename(fresh.c_str(), path.c_str()) == 0) return true;
  unlink(fresh.c_str());
  return false;
}

}  // namespace vramscope::viewer
