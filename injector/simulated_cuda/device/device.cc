// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/device.h"

#include <atomic>
#include <iterator>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/journal.h"
#include "injector/simulated_cuda/device/settings.h"

namespace vramscope::simulated {
namespace {

std::atomic<Device*> devices[kMaxDevices];
std::mutex making;

Region ReservedRegion(int number) {
  Region region;
  region.Reserve(number);
  return region;
}

}  // namespace

Device::Device(int number, uint64_t capacity, SharedUse& use)
    : number_(number),
      region_(ReservedRegion(number)),
      capacity_(capacity),
      use_(use),
      addresses_(region_.begin(), region_.bytes(), kGranule) {}

bool Device::Count(uint64_t bytes, const Origin& origin) {
  uint64_t missing = 0;
  if (use_.Take(number_, bytes, capacity_, &missing)) return true;
  ledger_.Refuse(missing, origin.call);
  return false;
}

int Device::Allocate(uint64_t bytes, const Origin& origin, uint64_t* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes == 0) return kInvalidValue;
  const uint64_t charged = addresses_.Rounded(bytes);
  if (charged < bytes) return kOutOfMemory;
  *address = addresses_.Take(bytes);
  if (*address == 0) return kOutOfMemory;
  if (!Count(charged, origin)) {
    addresses_.Give(*address, charged);
    return kOutOfMemory;
  }
  LedgerRow* const row = ledger_.Take(origin, charged);
  NoteInJournal(number_, *row);
  allocations_[*address] = {bytes, row};
  return kSuccess;
}

int Device::Free(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return kInvalidValue;
  const uint64_t charged = addresses_.Rounded(found->second.bytes);
  region_.Clear(address, charged);
  ledger_.Give(found->second.row, charged);
  NoteInJournal(number_, *found->second.row);
  use_.Give(number_, charged);
  addresses_.Give(address, charged);
  allocations_.erase(found);
  return kSuccess;
}

Allocation Device::Find(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return {};
  found = std::prev(found);
  if (address - found->first >= found->second.bytes) return {};
  return {found->first, found->second.bytes};
}

LedgerRow* Device::TakePhysical(uint64_t bytes, const Origin& origin) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Count(bytes, origin)) return nullptr;
  LedgerRow* const row = ledger_.Take(origin, bytes);
  NoteInJournal(number_, *row);
  return row;
}

void Device::GivePhysical(LedgerRow* row, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ledger_.Give(row, bytes);
  NoteInJournal(number_, *row);
  use_.Give(number_, bytes);
}

uint64_t Device::ReserveAddresses(uint64_t bytes, uint64_t alignment, uint64_t wanted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (wanted != 0 && addresses_.TakeAt(wanted, bytes)) return wanted;
  return addresses_.Take(bytes, alignment);
}

void Device::GiveAddresses(uint64_t address, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  region_.Clear(address, bytes);
  addresses_.Give(address, bytes);
}

uint64_t Device::free_bytes() {
  const uint64_t used = use_.UsedBytes(number_);
  return used < capacity_ ? capacity_ - used : 0;
}

Device& DeviceNumber(int number) {
  Device* device = devices[number].load(std::memory_order_acquire);
  if (device != nullptr) return *device;
  const std::lock_guard<std::mutex> lock(making);
  device = devices[number].load(std::memory_order_acquire);
  if (device == nullptr) {
    device = new Device(PhysicalNumber(number), TheSettings().capacity, TheSharedUse());
    devices[number].store(device, std::memory_order_release);
  }
  return *device;
}

bool AnyDevice() {
  for (const std::atomic<Device*>& device : devices) {
    if (device.load(std::memory_order_acquire) != nullptr) return true;
  }
  return false;
}

int DeviceOf(uint64_t address) {
  for (int i = 0; i < kMaxDevices; ++i) {
    Device* const device = devices[i].load(std::memory_order_acquire);
    if (device != nullptr && device->region().Contains(address)) return i;
  }
  return -1;
}

}  // namespace vramscope::simulated
