// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "vramscope-dryrun-";
constexpr time_t kYoung = 10;  // seconds: one that was just made may not be locked yet

// A descriptor that holds the folder's lock; -1 when somebody else has it, or locks do not work there.
int Lock(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

bool IsOursAndOld(const std::string& folder) {
  struct stat facts = {};
  return lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == getuid() &&
         facts.st_mtime + kYoung < time(nullptr);
}

}  // namespace

void RemoveAbandoned(const std::string& place) {
  std::error_code ignored;
  std::vector<std::string> old;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (entry.path().filename().string().rfind(kPrefix, 0) == 0 && IsOursAndOld(entry.path().string()))
      old.push_back(entry.path().string());
  }
  for (const std::string& folder : old) {
    const int lock = Lock(folder);
    if (lock < 0) continue;
    fs::remove_all(folder, ignored);
    close(lock);
  }
}

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  const fs::path place = fs::temp_directory_path(ignored);
  RemoveAbandoned(place.string());
  std::string pattern = (place / (std::string(kPrefix) + "XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) return;
  path_ = pattern;
  lock_ = Lock(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace vramscope::cli
