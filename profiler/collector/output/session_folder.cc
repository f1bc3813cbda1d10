// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/session_folder.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "profiler/collector/order/ring_room.h"
#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

constexpr char kFolderPrefix[] = "vramscope-";
constexpr uint64_t kEnoughRoom = uint64_t{64} << 20;
constexpr uint64_t kMostRoom = uint64_t{16} << 30;
constexpr uint64_t kLeastRoom = 2 * (trace::kRingHeaderBytes + trace::kSmallestRingBytes);

struct Place {
  std::string root;
  uint64_t room = 0;  // bytes that rings may take there
};

// A file system that reports no size has no limit (tmpfs of size 0).
Result<uint64_t> RoomIn(const std::string& root, uint64_t share_of_size) {
  struct statvfs facts {};
  if (statvfs(root.c_str(), &facts) != 0) return Error{fmt::format("{}: {}", root, std::strerror(errno))};
  if (facts.f_blocks == 0) return kMostRoom;
  const uint64_t size = uint64_t{facts.f_blocks} * facts.f_frsize;
  const uint64_t free = uint64_t{facts.f_bavail} * facts.f_frsize;
  return std::min({size / share_of_size, free / 8, kMostRoom});
}

// The roots in the order in which they are tried.
std::vector<Place> Places(const std::vector<std::string>& roots, std::string& reasons) {
  std::vector<Place> roomy;
  std::vector<Place> narrow;
  const auto refuse = [&](const std::string& sentence) {
    reasons += (reasons.empty() ? "" : "; ") + sentence;
  };
  for (const std::string& root : roots) {
    const Result<uint64_t> room = RoomIn(root, 32);
    const Result<uint64_t> last_resort = RoomIn(root, 16);
    if (!room.ok() || !last_resort.ok()) {
      refuse(room.ok() ? last_resort.error().sentence : room.error().sentence);
    } else if (*room >= kEnoughRoom) {
      roomy.push_back({root, *room});
    } else if (*last_resort >= kLeastRoom) {
      narrow.push_back({root, *last_resort});
    } else {
      refuse(fmt::format("{}: only {} KiB are free", root, *last_resort * 8 / 1024));
    }
  }
  std::stable_sort(narrow.begin(), narrow.end(),
                   [](const Place& a, const Place& b) { return a.room > b.room; });
  roomy.insert(roomy.end(), narrow.begin(), narrow.end());
  return roomy;
}

}  // namespace

Result<std::unique_ptr<SessionFolder>> SessionFolder::Create() {
  const char* temporary = std::getenv("TMPDIR");
  std::vector<std::string> roots = {"/dev/shm"};
  if (temporary != nullptr && *temporary == '/') roots.emplace_back(temporary);
  roots.emplace_back("/tmp");
  return CreateIn(roots);
}

Result<std::unique_ptr<SessionFolder>> SessionFolder::CreateIn(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) RemoveAbandonedFolders(root, kFolderPrefix);
  std::string reasons;
  for (const Place& place : Places(roots, reasons)) {
    auto made = OwnedFolder::Create(place.root, kFolderPrefix);
    const Status room = made.ok() ? MakeRingRoom(made->path(), place.room) : made.error();
    if (room.ok()) return std::unique_ptr<SessionFolder>(new SessionFolder(std::move(made).value()));
    reasons += (reasons.empty() ? "" : "; ") + room.error().sentence;
  }
  return Error{fmt::format(
      "Cannot create a folder for shared memory ({}). Set TMPDIR to a folder with free space.", reasons)};
}

}  // namespace vramscope::collector
