// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/owned_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "profiler/collector/output/whole_file.h"
#include "profiler/collector/target/process_facts.h"
#include "trace_format/process_identity.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

constexpr char kMarkerName[] = ".vramscope-owner";

std::string BootId() {
  std::string id = ReadWhole("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string MarkerText(const std::string& path, const struct stat& folder,
                       const trace::ProcessIdentity& owner) {
  return fmt::format("vramscope folder 1\nname {} inode {} uid {}\npid {} started {} namespace {} boot {}\n",
                     fs::path(path).filename().string(), folder.st_ino, folder.st_uid, owner.pid,
                     owner.start_ticks, owner.pid_namespace, BootId());
}

int OpenFolder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool WriteMarker(int folder, const std::string& path) {
  struct stat facts {};
  if (fstat(folder, &facts) != 0) return false;
  const int marker = openat(folder, kMarkerName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (marker < 0) return false;
  const std::string text = MarkerText(path, facts, trace::OwnIdentity());
  const bool written = write(marker, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return close(marker) == 0 && written;
}

// The owner that the folder's marker names. Empty if it has no marker of ours, or one of another folder.
std::optional<trace::ProcessIdentity> OwnerOf(int folder, const std::string& path) {
  struct stat facts {};
  struct stat marker {};
  if (fstat(folder, &facts) != 0 || facts.st_uid != geteuid()) return std::nullopt;
  if (fstatat(folder, kMarkerName, &marker, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(marker.st_mode) ||
      marker.st_uid != geteuid())
    return std::nullopt;
  const std::string text = ReadWhole(path + "/" + kMarkerName);
  trace::ProcessIdentity owner;
  const size_t last = text.find("\npid ");
  if (last == std::string::npos || std::sscanf(text.c_str() + last, "\npid %u started %lu namespace %lu",
                                               &owner.pid, &owner.start_ticks, &owner.pid_namespace) != 3)
    return std::nullopt;
  if (text != MarkerText(path, facts, owner)) return std::nullopt;  // another folder, boot or user
  return owner;
}

void RemoveIfAbandoned(const std::string& path) {
  const int folder = OpenFolder(path);
  if (folder < 0) return;
  const auto owner = OwnerOf(folder, path);
  if (owner && HasEnded(*owner) && flock(folder, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  close(folder);
}

}  // namespace

Result<OwnedFolder> OwnedFolder::Create(const std::string& root, const std::string& prefix) {
  std::string path = fmt::format("{}/{}XXXXXX", root, prefix);
  if (mkdtemp(path.data()) == nullptr) return Error{fmt::format("{}: {}", root, std::strerror(errno))};
  const int folder = OpenFolder(path);
  if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0 && WriteMarker(folder, path))
    return OwnedFolder(path, folder);
  const int reason = errno;
  if (folder >= 0) close(folder);
  std::error_code ignored;
  fs::remove_all(path, ignored);
  return Error{fmt::format("{}: {}", root, std::strerror(reason))};
}

OwnedFolder::OwnedFolder(OwnedFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), lock_(std::exchange(other.lock_, -1)) {}

OwnedFolder::~OwnedFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(lock_);
}

void RemoveAbandonedFolders(const std::string& root, const std::string& prefix) {
  std::error_code failed;
  std::vector<std::string> candidates;
  for (fs::directory_iterator it(root, failed), end; !failed && it != end; it.increment(failed)) {
    if (it->path().filename().string().starts_with(prefix)) candidates.push_back(it->path().string());
  }
  for (const std::string& path : candidates) RemoveIfAbandoned(path);
}

}  // namespace vramscope::collector
