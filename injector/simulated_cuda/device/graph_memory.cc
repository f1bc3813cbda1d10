// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/graph_memory.h"

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"

namespace vramscope::simulated {

int GraphMemory::Add(int device, uint64_t bytes, uint64_t* address) {
  if (bytes == 0) return kInvalidValue;
  const uint64_t whole = (bytes + kGranule - 1) / kGranule * kGranule;
  *address = DeviceNumber(device).ReserveAddresses(whole, 0, 0);
  if (*address == 0) return kOutOfMemory;
  const std::lock_guard<std::mutex> lock(mutex_);
  blocks_[*address] = {device, whole};
  return kSuccess;
}

int GraphMemory::Use(uint64_t address, const Origin& origin) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return kInvalidValue;
  Block& block = found->second;
  if (block.row == nullptr) block.row = DeviceNumber(block.device).TakePhysical(block.bytes, origin);
  if (block.row == nullptr) return kOutOfMemory;
  block.used = true;
  return kSuccess;
}

int GraphMemory::Unuse(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return kInvalidValue;
  found->second.used = false;
  return kSuccess;
}

void GraphMemory::Trim(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [address, block] : blocks_) {
    if (block.device != device || block.used || block.row == nullptr) continue;
    DeviceNumber(device).GivePhysical(block.row, block.bytes);
    block.row = nullptr;
  }
}

uint64_t GraphMemory::Get(int device, GraphMemoryAttribute attribute) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t used = 0, reserved = 0;
  for (const auto& [address, block] : blocks_) {
    if (block.device != device) continue;
    if (block.used) used += block.bytes;
    if (block.row != nullptr) reserved += block.bytes;
  }
  return attribute == GraphMemoryAttribute::kUsed || attribute == GraphMemoryAttribute::kUsedHigh ? used
                                                                                                  : reserved;
}

GraphMemory& TheGraphMemory() {
  static GraphMemory* const memory = new GraphMemory;
  return *memory;
}

}  // namespace vramscope::simulated
