// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/session_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "vramscope-";

// A locked descriptor of the folder, or -1: it is in use, is gone, is a link, or belongs to someone else.
int LockFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat info {};
  const bool ours = fstat(fd, &info) == 0 && info.st_uid == geteuid();
  if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 && info.st_nlink != 0) return fd;
  close(fd);
  return -1;
}

void RemoveStaleFolders(const std::string& root) {
  std::error_code ignored;
  for (fs::directory_iterator it(root, ignored), end; it != end; it.increment(ignored)) {
    if (ignored) return;
    const std::string path = it->path().string();
    if (!it->path().filename().string().starts_with(kPrefix)) continue;
    const int lock = LockFolder(path);
    if (lock < 0) continue;
    fs::remove_all(path, ignored);
    close(lock);
  }
}

// Another collector may take a folder that is not locked yet for a stale one and remove it: then the next one
// is tried.
Result<std::pair<std::string, int>> MakeLocked(const std::string& root) {
  for (int tries = 0; tries < 100; ++tries) {
    std::string path = fmt::format("{}/{}XXXXXX", root, kPrefix);
    if (mkdtemp(path.data()) == nullptr) {
      return Error{fmt::format("{}: {}", root, std::strerror(errno))};
    }
    if (const int lock = LockFolder(path); lock >= 0) return std::pair(path, lock);
    rmdir(path.c_str());
  }
  return Error{fmt::format("{}: folders cannot be locked there", root)};
}

}  // namespace

Result<std::unique_ptr<SessionFolder>> SessionFolder::Create() {
  const char* temporary = std::getenv("TMPDIR");
  return CreateIn({"/dev/shm", temporary != nullptr && *temporary == '/' ? temporary : "/tmp"});
}

Result<std::unique_ptr<SessionFolder>> SessionFolder::CreateIn(const std::vector<std::string>& roots) {
  std::string reasons;
  for (const std::string& root : roots) {
    RemoveStaleFolders(root);
    auto made = MakeLocked(root);
    if (made.ok()) {
      return std::unique_ptr<SessionFolder>(new SessionFolder(made->first, made->second));
    }
    reasons += (reasons.empty() ? "" : "; ") + made.error().sentence;
  }
  return Error{fmt::format("No folder for shared memory can be made ({}). Set TMPDIR to a folder with room.",
                           reasons)};
}

SessionFolder::~SessionFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace vramscope::collector
