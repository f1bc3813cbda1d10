// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace vramscope::simulated {
namespace {

// Far from the addresses of programs and libraries, so that device pointers are easy to recognize.
constexpr uint64_t kFirstAddress = 0x700000000000;
// For each stream there may be several expandable segments, and each of them reserves 9/8 of the device.
constexpr uint64_t kMostBytes = uint64_t{4} << 40;
constexpr uint64_t kLeastBytes = uint64_t{64} << 30;
constexpr uint64_t kCopied = 4096;  // divides the page size of every kernel

uint8_t* Anonymous(uint64_t hint, uint64_t bytes) {
  void* const memory = mmap(reinterpret_cast<void*>(hint), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

}  // namespace

void Region::Reserve(int device) {
  for (uint64_t bytes = kMostBytes; bytes >= kLeastBytes; bytes /= 2) {
    uint8_t* const memory = Anonymous(kFirstAddress + static_cast<uint64_t>(device) * kMostBytes, bytes);
    if (memory == nullptr) continue;
    madvise(memory, bytes, MADV_NOHUGEPAGE);  // one byte written must not cost 2 MiB
    madvise(memory, bytes, MADV_DONTDUMP);
    // The first granule is never handed out if the kernel chose an address that is not a multiple of it.
    const auto address = reinterpret_cast<uint64_t>(memory);
    begin_ = (address + kGranule - 1) / kGranule * kGranule;
    bytes_ = bytes - (begin_ - address);
    written_ = Anonymous(0, bytes / kGranule);
    shared_ = Anonymous(0, bytes / kGranule);
    if (written_ == nullptr || shared_ == nullptr) bytes_ = 0;
    return;
  }
}

Region::Granules Region::GranulesOf(uint64_t address, uint64_t bytes) const {
  const uint64_t first = (address - begin_) / kGranule;
  return {first, (address + bytes - 1 - begin_) / kGranule - first + 1};
}

void Region::MarkWritten(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  const Granules range = GranulesOf(address, bytes);
  std::memset(written_ + range.first, 1, range.count);
}

bool Region::WasWritten(uint64_t address, uint64_t bytes) const {
  const Granules range = GranulesOf(address, bytes);
  return std::memchr(written_ + range.first, 1, range.count) != nullptr;
}

void Region::ForgetWritten(uint64_t address, uint64_t bytes) {
  const uint64_t first = (address - begin_ + kGranule - 1) / kGranule;
  const uint64_t end = (address + bytes - begin_) / kGranule;
  if (end > first) std::memset(written_ + first, 0, end - first);
}

void Region::Clear(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  const Granules range = GranulesOf(address, bytes);
  if (std::memchr(shared_ + range.first, 1, range.count) == nullptr) {
    if (WasWritten(address, bytes)) ClearPages(address, bytes);
    return;
  }
  // Another process may have written to any of it.
  for (const uint64_t end = address + bytes; address < end;) {
    const uint64_t next = (address / kGranule + 1) * kGranule;
    const uint64_t part = (next < end ? next : end) - address;
    ClearPages(address, part);
    address += part;
  }
}

// Call it for granules that are either all shared or all not shared. In a file, a page becomes zero again
// only by punching a hole.
void Region::ClearPages(uint64_t address, uint64_t bytes) {
  const bool shared = shared_[GranulesOf(address, bytes).first] != 0;
  const auto page = static_cast<uint64_t>(getpagesize());  // 64 KiB with kernels for NVIDIA Grace
  const uint64_t first_page = (address + page - 1) / page * page;
  const uint64_t last_page = (address + bytes) / page * page;
  if (last_page <= first_page) {
    std::memset(reinterpret_cast<void*>(address), 0, bytes);
    return;
  }
  std::memset(reinterpret_cast<void*>(address), 0, first_page - address);
  madvise(reinterpret_cast<void*>(first_page), last_page - first_page, shared ? MADV_REMOVE : MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(last_page), 0, address + bytes - last_page);
  ForgetWritten(address, bytes);
}

bool Region::Share(uint64_t address, uint64_t bytes, int file, bool keep) {
  static constexpr uint8_t kZeros[kCopied] = {};
  const Granules range = GranulesOf(address, bytes);
  for (uint64_t at = address; keep && at < address + bytes; at += kCopied) {
    if (written_[(at - begin_) / kGranule] == 0) {
      at += kGranule - kCopied;  // the ranges begin with a granule
      continue;
    }
    const void* const page = reinterpret_cast<void*>(at);
    if (std::memcmp(page, kZeros, kCopied) == 0) continue;
    if (pwrite(file, page, kCopied, static_cast<off_t>(at - address)) != static_cast<ssize_t>(kCopied))
      return false;
  }
  void* const memory = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) return false;
  madvise(memory, bytes, MADV_DONTDUMP);
  std::memset(shared_ + range.first, 1, range.count);
  return true;
}

void Region::Unshare(uint64_t address, uint64_t bytes) {
  const Granules range = GranulesOf(address, bytes);
  void* const memory = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  madvise(memory, bytes, MADV_DONTDUMP);
  std::memset(shared_ + range.first, 0, range.count);
  std::memset(written_ + range.first, 0, range.count);
}

}  // namespace vramscope::simulated
