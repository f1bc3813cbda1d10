// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/virtual_memory.h"

#include <iterator>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"

namespace vramscope::simulated {
namespace {

bool IsWhole(uint64_t value) { return value % kGranule == 0; }

// The entry of an ordered map of ranges that contains the address; end() when none does.
template <typename Map>
auto Containing(Map& ranges, uint64_t address) {
  auto found = ranges.upper_bound(address);
  if (found == ranges.begin()) return ranges.end();
  found = std::prev(found);
  return address - found->first < found->second.bytes ? found : ranges.end();
}

}  // namespace

int VirtualMemory::Create(int device, uint64_t bytes, const Origin& origin, PhysicalHandle* handle) {
  if (bytes == 0 || !IsWhole(bytes)) return kInvalidValue;
  LedgerRow* const row = DeviceNumber(device).TakePhysical(bytes, origin);
  if (row == nullptr) return kOutOfMemory;
  const std::lock_guard<std::mutex> lock(mutex_);
  *handle = next_++;
  physical_[*handle] = {device, bytes, row, 1};
  return kSuccess;
}

int VirtualMemory::Drop(PhysicalHandle handle) {
  const auto found = physical_.find(handle);
  if (found == physical_.end()) return kInvalidValue;
  if (--found->second.references != 0) return kSuccess;
  DeviceNumber(found->second.device).GivePhysical(found->second.row, found->second.bytes);
  physical_.erase(found);
  return kSuccess;
}

int VirtualMemory::Release(PhysicalHandle handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Drop(handle);
}

int VirtualMemory::Retain(uint64_t address, PhysicalHandle* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto mapping = Containing(mappings_, address);
  if (mapping == mappings_.end()) return kInvalidValue;
  *handle = mapping->second.handle;
  physical_[*handle].references++;
  return kSuccess;
}

int VirtualMemory::Reserve(int device, uint64_t bytes, uint64_t alignment, uint64_t wanted,
                           uint64_t* address) {
  if (bytes == 0 || !IsWhole(bytes)) return kInvalidValue;
  *address = DeviceNumber(device).ReserveAddresses(bytes, alignment, wanted);
  if (*address == 0) return kOutOfMemory;
  const std::lock_guard<std::mutex> lock(mutex_);
  reservations_[*address] = {bytes, device};
  return kSuccess;
}

int VirtualMemory::FreeAddresses(uint64_t address, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.bytes != bytes) return kInvalidValue;
  const auto mapping = mappings_.lower_bound(address);
  if (mapping != mappings_.end() && mapping->first < address + bytes) return kInvalidValue;
  DeviceNumber(found->second.device).GiveAddresses(address, bytes);
  reservations_.erase(found);
  return kSuccess;
}

int VirtualMemory::Map(uint64_t address, uint64_t bytes, PhysicalHandle handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto physical = physical_.find(handle);
  const auto reservation = Containing(reservations_, address);
  if (physical == physical_.end() || reservation == reservations_.end() || bytes != physical->second.bytes)
    return kInvalidValue;
  if (!IsWhole(address) || bytes > reservation->first + reservation->second.bytes - address)
    return kInvalidValue;
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && next->first < address + bytes) return kInvalidValue;
  if (Containing(mappings_, address) != mappings_.end()) return kInvalidValue;
  mappings_[address] = {bytes, handle};
  physical->second.references++;
  return kSuccess;
}

int VirtualMemory::Unmap(uint64_t address, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto first = mappings_.find(address);
  auto last = first;
  uint64_t covered = 0;
  while (last != mappings_.end() && last->first == address + covered && covered < bytes) {
    covered += last->second.bytes;
    ++last;
  }
  if (first == mappings_.end() || covered != bytes) return kInvalidValue;
  for (auto mapping = first; mapping != last; ++mapping) Drop(mapping->second.handle);
  mappings_.erase(first, last);
  DeviceNumber(DeviceOf(address)).region().Clear(address, bytes);
  return kSuccess;
}

int VirtualMemory::DeviceOfHandle(PhysicalHandle handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = physical_.find(handle);
  return found == physical_.end() ? -1 : found->second.device;
}

bool VirtualMemory::FindReservation(uint64_t address, uint64_t* begin, uint64_t* bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Containing(reservations_, address);
  if (found == reservations_.end()) return false;
  *begin = found->first;
  *bytes = found->second.bytes;
  return true;
}

VirtualMemory& TheVirtualMemory() {
  static VirtualMemory* const memory = new VirtualMemory;
  return *memory;
}

}  // namespace vramscope::simulated
