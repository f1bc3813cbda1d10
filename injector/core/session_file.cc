// SPDX-License-Identifier: Apache-2.0
#include "injector/core/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "injector/core/session.h"
#include "trace_format/ring.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace vramscope::injector {
namespace {

constexpr uint64_t kSmallestRing = 16 * kPageBytes;
constexpr uint64_t kLargestRing = 1 << 26;
constexpr uint32_t kMostImages = 100'000;  // of one pid

}  // namespace

void WritePath(char (&path)[kPathBytes], uint32_t image) {
  snprintf(path, sizeof path, "%s/%d.%u.ring", options.session, static_cast<int>(getpid()), image);
}

uint64_t ChosenRingBytes() {
  const uint64_t wanted = OptionNumber("ring_bytes", trace::kDefaultRingBytes);
  const bool usable = wanted >= kSmallestRing && wanted <= kLargestRing && (wanted & (wanted - 1)) == 0;
  return usable ? wanted : trace::kDefaultRingBytes;
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

void Warm(void* memory, uint64_t length) {
  if (madvise(memory, length, MADV_POPULATE_WRITE) == 0) return;
  auto* const bytes = static_cast<volatile std::byte*>(memory);  // Linux before 5.14
  for (uint64_t at = 0; at < length; at += kPageBytes) bytes[at] = bytes[at];
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

void WaitForAllProcessors() {
  constexpr int kGlobal = 1;  // MEMBARRIER_CMD_GLOBAL
  if (syscall(SYS_membarrier, kGlobal, 0, 0) == 0) return;
  constexpr timespec kLongerThanAnyStoreBuffer = {0, 20'000'000};
  nanosleep(&kLongerThanAnyStoreBuffer, nullptr);
}

}  // namespace vramscope::injector
