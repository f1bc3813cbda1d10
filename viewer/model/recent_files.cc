// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/recent_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace vramscope::viewer {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestPath = 4096;

// As they stand in the list.
std::vector<std::string> Listed(const std::string& list) {
  std::vector<std::string> paths;
  std::ifstream file(list);
  std::string line;
  while (paths.size() < kMostRecentFiles && std::getline(file, line)) {
    if (!line.empty() && line.size() <= kLongestPath && line[0] == '/') paths.push_back(line);
  }
  return paths;
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
  std::error_code ignored;
  const std::string whole = fs::absolute(path, ignored).lexically_normal().string();
  if (list.empty() || ignored || whole.find('\n') != std::string::npos) return;
  std::vector<std::string> paths = Listed(list);
  std::erase(paths, whole);
  paths.insert(paths.begin(), whole);
  paths.resize(std::min(paths.size(), kMostRecentFiles));
  fs::create_directories(fs::path(list).parent_path(), ignored);
  const std::string fresh = list + "." + std::to_string(getpid());
  {
    std::ofstream file(fresh, std::ios::trunc);
    for (const std::string& each : paths) file << each << '\n';
    file.close();
    if (!file) {
      fs::remove(fresh, ignored);
      return;
    }
  }
  fs::rename(fresh, list, ignored);  // at once: a reader sees the old list or the new one
  if (ignored) fs::remove(fresh, ignored);
}

}  // namespace vramscope::viewer
