// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/memory_pool.h"

#include <algorithm>
#include <iterator>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"

namespace vramscope::simulated {
namespace {

constexpr uint64_t kChunk = uint64_t{32} << 20;
constexpr uint64_t kAlignment = 512;

uint64_t RoundedTo(uint64_t step, uint64_t bytes) { return (bytes + step - 1) / step * step; }

}  // namespace

uint64_t MemoryPool::TakeFromChunks(uint64_t bytes) {
  for (auto& [begin, chunk] : chunks_) {
    if (chunk.free.free_bytes() < bytes) continue;
    if (const uint64_t address = chunk.free.Take(bytes)) return address;
  }
  return 0;
}

int MemoryPool::Allocate(uint64_t bytes, const Origin& origin, uint64_t* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes == 0) return kInvalidValue;
  const uint64_t rounded = RoundedTo(kAlignment, bytes);
  *address = TakeFromChunks(rounded);
  if (*address == 0) {
    const uint64_t chunk_bytes = RoundedTo(kChunk, rounded);
    uint64_t chunk = 0;
    int error = DeviceNumber(device_).Allocate(chunk_bytes, origin, &chunk);
    if (error == kOutOfMemory) {
      TrimLocked(0);
      error = DeviceNumber(device_).Allocate(chunk_bytes, origin, &chunk);
    }
    if (error != kSuccess) return error;
    chunks_.emplace(chunk, Chunk{chunk_bytes, AddressSpace(chunk, chunk_bytes, kAlignment)});
    reserved_ += chunk_bytes;
    reserved_high_ = std::max(reserved_high_, reserved_);
    *address = TakeFromChunks(rounded);
  }
  allocations_[*address] = rounded;
  used_ += rounded;
  used_high_ = std::max(used_high_, used_);
  return kSuccess;
}

int MemoryPool::Free(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return kInvalidValue;
  DeviceNumber(device_).region().Clear(address, found->second);
  std::prev(chunks_.upper_bound(address))->second.free.Give(address, found->second);
  used_ -= found->second;
  allocations_.erase(found);
  TrimLocked(release_threshold_);
  return kSuccess;
}

void MemoryPool::Trim(uint64_t keep) {
  const std::lock_guard<std::mutex> lock(mutex_);
  TrimLocked(keep);
}

void MemoryPool::TrimLocked(uint64_t keep) {
  for (auto chunk = chunks_.begin(); chunk != chunks_.end() && reserved_ > keep;) {
    if (chunk->second.free.free_bytes() != chunk->second.bytes) {
      ++chunk;
      continue;
    }
    DeviceNumber(device_).Free(chunk->first);
    reserved_ -= chunk->second.bytes;
    chunk = chunks_.erase(chunk);
  }
}

bool MemoryPool::Find(uint64_t address, uint64_t* begin, uint64_t* bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return false;
  found = std::prev(found);
  if (address - found->first >= found->second) return false;
  *begin = found->first;
  *bytes = found->second;
  return true;
}

uint64_t MemoryPool::Get(PoolAttribute attribute) {
  const std::lock_guard<std::mutex> lock(mutex_);
  switch (attribute) {
    case PoolAttribute::kReleaseThreshold:
      return release_threshold_;
    case PoolAttribute::kReserved:
      return reserved_;
    case PoolAttribute::kReservedHigh:
      return reserved_high_;
    case PoolAttribute::kUsed:
      return used_;
    case PoolAttribute::kUsedHigh:
      return used_high_;
  }
  return 0;
}

void MemoryPool::Set(PoolAttribute attribute, uint64_t value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  switch (attribute) {  // the high marks can only be reset to the current values
    case PoolAttribute::kReleaseThreshold:
      release_threshold_ = value;
      break;
    case PoolAttribute::kReservedHigh:
      reserved_high_ = reserved_;
      break;
    case PoolAttribute::kUsedHigh:
      used_high_ = used_;
      break;
    default:
      break;
  }
}

}  // namespace vramscope::simulated
