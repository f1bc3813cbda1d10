// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/host_memory.h"

#include <sys/mman.h>

#include "injector/simulated_cuda/device/ranges.h"

namespace vramscope::simulated {

void* HostMemory::Allocate(uint64_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  ranges_[reinterpret_cast<uint64_t>(memory)] = {bytes, true};
  return memory;
}

bool HostMemory::Free(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = ranges_.find(reinterpret_cast<uint64_t>(memory));
  if (found == ranges_.end() || !found->second.allocated) return false;
  munmap(memory, found->second.bytes);
  ranges_.erase(found);
  return true;
}

bool HostMemory::Register(void* memory, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ranges_.emplace(reinterpret_cast<uint64_t>(memory), Range{bytes, false}).second;
}

bool HostMemory::Unregister(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = ranges_.find(reinterpret_cast<uint64_t>(memory));
  if (found == ranges_.end() || found->second.allocated) return false;
  ranges_.erase(found);
  return true;
}

bool HostMemory::Find(const void* memory, uint64_t* begin, uint64_t* bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FindRange(ranges_, reinterpret_cast<uint64_t>(memory), begin, bytes);
}

HostMemory& TheHostMemory() {
  static HostMemory* const memory = new HostMemory;
  return *memory;
}

}  // namespace vramscope::simulated
