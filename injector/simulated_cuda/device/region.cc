// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/region.h"

#include <sys/mman.h>

#include <cstring>

namespace vramscope::simulated {
namespace {

// Far from where programs and libraries are placed, so that a pointer tells at a glance what it is.
constexpr uint64_t kFirstAddress = 0x700000000000;
// Several expandable segments reserve 9/8 of the device each, for every stream.
constexpr uint64_t kMostBytes = uint64_t{4} << 40;
constexpr uint64_t kLeastBytes = uint64_t{64} << 30;
constexpr uint64_t kPage = 4096;

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
    // The first granule is never handed out when the kernel chose an address that is no multiple of it.
    const auto address = reinterpret_cast<uint64_t>(memory);
    begin_ = (address + kGranule - 1) / kGranule * kGranule;
    bytes_ = bytes - (begin_ - address);
    written_ = Anonymous(0, bytes / kGranule);
    if (written_ == nullptr) bytes_ = 0;
    return;
  }
}

void Region::MarkWritten(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t first = (address - begin_) / kGranule;
  const uint64_t last = (address + bytes - 1 - begin_) / kGranule;
  std::memset(written_ + first, 1, last - first + 1);
}

bool Region::WasWritten(uint64_t address, uint64_t bytes) const {
  const uint64_t first = (address - begin_) / kGranule;
  const uint64_t last = (address + bytes - 1 - begin_) / kGranule;
  return std::memchr(written_ + first, 1, last - first + 1) != nullptr;
}

void Region::ForgetWritten(uint64_t address, uint64_t bytes) {
  const uint64_t first = (address - begin_ + kGranule - 1) / kGranule;
  const uint64_t end = (address + bytes - begin_) / kGranule;
  if (end > first) std::memset(written_ + first, 0, end - first);
}

void Region::Clear(uint64_t address, uint64_t bytes) {
  if (bytes == 0 || !WasWritten(address, bytes)) return;
  const uint64_t first_page = (address + kPage - 1) / kPage * kPage;
  const uint64_t last_page = (address + bytes) / kPage * kPage;
  if (last_page <= first_page) {
    std::memset(reinterpret_cast<void*>(address), 0, bytes);
    return;
  }
  std::memset(reinterpret_cast<void*>(address), 0, first_page - address);
  madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(last_page), 0, address + bytes - last_page);
  ForgetWritten(address, bytes);
}

}  // namespace vramscope::simulated
