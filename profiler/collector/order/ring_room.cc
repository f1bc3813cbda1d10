// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/ring_room.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "trace_format/ring.h"

namespace vramscope::collector {
namespace {

std::string RoomPath(const std::string& folder) { return fmt::format("{}/{}", folder, trace::kRoomName); }

void WithRoom(const std::string& folder, const std::function<void(trace::RingRoom&)>& use) {
  const int file = open(RoomPath(folder).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  void* const memory = mmap(nullptr, sizeof(trace::RingRoom), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return;
  use(*static_cast<trace::RingRoom*>(memory));
  munmap(memory, sizeof(trace::RingRoom));
}

}  // namespace

Status MakeRingRoom(const std::string& folder, uint64_t bytes) {
  // Reserved, not only sized: a full file system must cause an error here and not at a store of a target.
  const int file = open(RoomPath(folder).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const int reason = file < 0 ? errno : posix_fallocate(file, 0, sizeof(trace::RingRoom));
  if (file >= 0) close(file);
  if (reason != 0) return Error{fmt::format("{}: {}", folder, std::strerror(reason))};
  WithRoom(folder, [&](trace::RingRoom& room) { room.bytes_left.store(static_cast<int64_t>(bytes)); });
  return {};
}

void GiveBackRingRoom(const std::string& folder, uint64_t bytes) {
  WithRoom(folder, [&](trace::RingRoom& room) { room.bytes_left.fetch_add(static_cast<int64_t>(bytes)); });
}

uint64_t UnrecordedProcesses(const std::string& folder) {
  uint64_t processes = 0;
  WithRoom(folder, [&](const trace::RingRoom& room) { processes = room.unrecorded.load(); });
  return processes;
}

}  // namespace vramscope::collector
