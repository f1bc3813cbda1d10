// SPDX-License-Identifier: Apache-2.0
#include "injector/core/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "injector/core/clock.h"
#include "injector/core/intern.h"
#include "injector/core/session.h"
#include "trace_format/process_identity.h"
#include "trace_format/ring.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace vramscope::injector {
namespace {

constexpr uint64_t kLargestRing = 1 << 26;
constexpr uint64_t kRingsOfRoom = 16;
constexpr uint32_t kMostImages = 100'000;  // of one pid

// The session's room, mapped while it lives; nullptr if there is none.
class MappedRoom {
 public:
  MappedRoom() {
    char path[kPathBytes];
    snprintf(path, sizeof path, "%s/%s", options.session, trace::kRoomName);
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return;
    void* const memory = mmap(nullptr, sizeof(trace::RingRoom), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) room_ = static_cast<trace::RingRoom*>(memory);
    close(file);
  }
  ~MappedRoom() {
    if (room_ != nullptr) munmap(room_, sizeof(trace::RingRoom));
  }
  MappedRoom(const MappedRoom&) = delete;
  MappedRoom& operator=(const MappedRoom&) = delete;

  trace::RingRoom* operator->() const { return room_; }
  explicit operator bool() const { return room_ != nullptr; }

 private:
  trace::RingRoom* room_ = nullptr;
};

// False if too little is left; true if the session has no such file.
bool TakeRoom(int64_t bytes) {
  const MappedRoom room;
  if (!room) return true;
  int64_t left = room->bytes_left.load(std::memory_order_relaxed);
  while (left >= bytes) {
    if (room->bytes_left.compare_exchange_weak(left, left - bytes)) return true;
  }
  return false;
}

}  // namespace

bool CountUnrecorded(int64_t processes) {
  const MappedRoom room;
  if (!room) return false;
  room->unrecorded.fetch_add(static_cast<uint64_t>(processes), std::memory_order_relaxed);
  return true;
}

bool HasRoomBeside(int file, uint64_t bytes) {
  constexpr uint64_t kMostKept = uint64_t{256} << 20;
  struct statvfs facts;
  if (fstatvfs(file, &facts) != 0 || facts.f_blocks == 0) return true;  // no limit
  const uint64_t sixteenth = uint64_t{facts.f_blocks} * facts.f_frsize / 16;
  const uint64_t kept = sixteenth < kMostKept ? sixteenth : kMostKept;
  return uint64_t{facts.f_bavail} * facts.f_frsize >= kept + bytes;
}

void WritePath(char (&path)[kPathBytes], uint32_t image) {
  snprintf(path, sizeof path, "%s/%d.%u.ring", options.session, static_cast<int>(getpid()), image);
}

uint64_t ChosenRingBytes() {
  const uint64_t wanted = OptionNumber("ring_bytes", 0);
  const bool usable =
      wanted >= trace::kSmallestRingBytes && wanted <= kLargestRing && (wanted & (wanted - 1)) == 0;
  if (usable) return wanted;
  const MappedRoom room;
  uint64_t bytes = trace::kDefaultRingBytes;
  if (!room) return bytes;
  const int64_t left = room->bytes_left.load(std::memory_order_relaxed);
  while (bytes > trace::kSmallestRingBytes && left < static_cast<int64_t>(bytes * kRingsOfRoom)) bytes /= 2;
  return bytes;
}

uint32_t RingsWithinFileLimit(uint64_t ring_bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return trace::kMaxRings;
  uint32_t rings = trace::kMaxRings;
  while (rings > 0 && trace::RingOffset(rings, ring_bytes) > limit.rlim_cur) --rings;
  return rings;
}

void* MapReserved(int file, uint64_t offset, uint64_t length, void* place) {
  if (fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(length)) != 0) return nullptr;
  void* const memory =
      mmap(place, length, PROT_READ | PROT_WRITE, MAP_SHARED | (place != nullptr ? MAP_FIXED : 0), file,
           static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
}

void* MapInRoom(int file, uint64_t offset, uint64_t length, void* place) {
  const auto bytes = static_cast<int64_t>(length);
  if (!TakeRoom(bytes)) return nullptr;
  void* const memory = MapReserved(file, offset, length, place);
  if (memory == nullptr) TakeRoom(-bytes);
  return memory;
}

void Warm(void* memory, uint64_t length) {
  if (madvise(memory, length, MADV_POPULATE_WRITE) == 0) return;
  constexpr uint64_t kSmallestPage = 4096;
  auto* const bytes = static_cast<volatile std::byte*>(memory);  // Linux before 5.14
  for (uint64_t at = 0; at < length; at += kSmallestPage) bytes[at] = bytes[at];
}

int CreateFile(uint32_t& image) {
  char path[kPathBytes];
  for (image = 0; image < kMostImages; ++image) {
    WritePath(path, image);
    const int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

void RemoveFile(uint32_t image) {
  char path[kPathBytes];
  WritePath(path, image);
  unlink(path);
}

void FillHeader(trace::RingFileHeader* header, const NewFile& file) {
  header->version = trace::kRingVersion;
  header->pid = static_cast<uint32_t>(getpid());
  header->parent_pid = static_cast<uint32_t>(getppid());
  header->clock = clock_kind;
  header->ring_bytes = file.ring_bytes;
  header->ring_capacity = file.capacity;
  header->created_monotonic_ns = MonotonicNs();
  header->created_ticks = Ticks();
  header->forked_from = static_cast<uint32_t>(file.forked_from);
  header->forked_from_image = file.forked_from_image;
  const trace::ProcessIdentity identity = trace::OwnIdentity();
  header->pid_namespace = identity.pid_namespace;
  header->start_ticks = identity.start_ticks;
  header->first_own_string = NextStringId();
  header->next_string.store(NextStringId(), std::memory_order_relaxed);
  header->next_stack.store(NextStackId(), std::memory_order_relaxed);
  header->mode.store(trace::kModeRecord, std::memory_order_relaxed);
  __atomic_store_n(&header->magic, trace::kRingMagic, __ATOMIC_RELEASE);
}

void WaitForAllProcessors() {
  constexpr int kGlobal = 1;  // MEMBARRIER_CMD_GLOBAL
  if (syscall(SYS_membarrier, kGlobal, 0, 0) == 0) return;
  constexpr timespec kLongerThanAnyStoreBuffer = {0, 20'000'000};
  nanosleep(&kLongerThanAnyStoreBuffer, nullptr);
}

}  // namespace vramscope::injector
