// SPDX-License-Identifier: Apache-2.0
// Uses only POSIX calls, for the reason in small_file.h.
#include "viewer/model/folder_listing.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace vramscope::viewer {
namespace {

bool IsOffered(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEndings = {".vms", ".pickle", ".pkl", ".json"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

std::vector<FolderEntry> EntriesFor(const std::string& typed, size_t most) {
  const size_t slash = typed.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : typed.substr(0, slash + 1);
  const std::string begin = slash == std::string::npos ? typed : typed.substr(slash + 1);
  std::vector<FolderEntry> entries;
  DIR* open = opendir(folder.empty() ? "." : folder.c_str());
  if (open == nullptr) return entries;
  while (const dirent* each = readdir(open)) {
    const std::string name = each->d_name;
    if (name == "." || !name.starts_with(begin)) continue;
    if (name != ".." && name[0] == '.' && begin.empty()) continue;  // hidden
    const std::string path = folder + name;
    struct stat facts = {};
    if (stat(path.c_str(), &facts) != 0) continue;
    if (S_ISDIR(facts.st_mode)) {
      entries.push_back({path + "/", name + "/", true});
    } else if (S_ISREG(facts.st_mode) && IsOffered(name)) {
      entries.push_back({path, name, false});
    }
  }
  closedir(open);
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    return a.folder != b.folder ? a.folder : a.name < b.name;
  });
  if (entries.size() > most) entries.resize(most);
  return entries;
}

}  // namespace vramscope::viewer
