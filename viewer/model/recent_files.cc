// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/recent_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "viewer/model/small_file.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kLongestPath = 4096;

// The paths in the list, whether or not the files still exist.
std::vector<std::string> Listed(const std::string& list) {
  std::vector<std::string> paths;
  std::istringstream file(ReadSmallFile(list, kMostRecentFiles * (kLongestPath + 1)).value_or(""));
  std::string line;
  while (paths.size() < kMostRecentFiles && std::getline(file, line)) {
    if (!line.empty() && line.size() <= kLongestPath && line[0] == '/') paths.push_back(line);
  }
  return paths;
}

// The absolute path, without "." and ".."; "" if the current folder is unknown.
std::string WholePath(const std::string& path) {
  std::array<char, kLongestPath> here{};
  if (!path.starts_with('/') && getcwd(here.data(), here.size()) == nullptr) return "";
  std::istringstream words(path.starts_with('/') ? path : std::string(here.data()) + "/" + path);
  std::vector<std::string> parts;
  for (std::string part; std::getline(words, part, '/');) {
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  }
  std::string whole;
  for (const std::string& part : parts) whole += "/" + part;
  return whole;
}

}  // namespace

std::string RecentFilesPath() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/vramscope/recent";
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] != '/' ? "" : std::string(home) + "/.local/state/vramscope/recent";
}

std::vector<std::string> RecentFiles(const std::string& list) {
  std::vector<std::string> paths = Listed(list);
  std::erase_if(paths, [](const std::string& path) { return access(path.c_str(), R_OK) != 0; });
  return paths;
}

void RememberFile(const std::string& list, const std::string& path) {
  const std::string whole = WholePath(path);
  if (list.empty() || whole.empty() || whole.find('\n') != std::string::npos) return;
  std::vector<std::string> paths = Listed(list);
  std::erase(paths, whole);
  paths.insert(paths.begin(), whole);
  paths.resize(std::min(paths.size(), kMostRecentFiles));
  std::string text;
  for (const std::string& each : paths) text += each + '\n';
  ReplaceSmallFile(list, text);
}

}  // namespace vramscope::viewer
