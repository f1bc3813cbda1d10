// SPDX-License-Identifier: Apache-2.0
// The memory of one simulated device: who allocated it, and at which addresses.
//
//   capacity ──┬── other processes   what they have taken (shared_use.h)
//              ├── context           charged when the process first uses the device
//              ├── allocations       cuMemAlloc: address and memory at once
//              └── physical memory   cuMemCreate: memory without an address (virtual_memory.h gives it one)
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/device/address_space.h"
#include "injector/simulated_cuda/device/ledger.h"
#include "injector/simulated_cuda/device/region.h"
#include "injector/simulated_cuda/device/shared_use.h"

namespace vramscope::simulated {

struct Allocation {
  uint64_t address = 0;  // 0 = none
  uint64_t bytes = 0;    // as requested
};

class Device {
 public:
  // `use` counts the bytes that all processes use on the device. It must outlive the Device.
  Device(int number, uint64_t capacity, SharedUse& use);

  // Allocates `bytes`, rounded up to whole granules (2 MiB). Returns kSuccess or kOutOfMemory, or
  // kInvalidValue if `bytes` is 0.
  int Allocate(uint64_t bytes, const Origin& origin, uint64_t* address);
  // Returns kInvalidValue if no allocation begins at `address`.
  int Free(uint64_t address);
  Allocation Find(uint64_t address);

  // Allocates memory without an address. Returns the ledger row to pass to GivePhysical, or nullptr if the
  // device is full.
  LedgerRow* TakePhysical(uint64_t bytes, const Origin& origin);
  void GivePhysical(LedgerRow* row, uint64_t bytes);

  // Reserves addresses without memory. Uses `wanted` if it is not 0 and the addresses are free. Returns 0 if
  // there are no free addresses.
  uint64_t ReserveAddresses(uint64_t bytes, uint64_t alignment, uint64_t wanted);
  void GiveAddresses(uint64_t address, uint64_t bytes);

  [[nodiscard]] uint64_t capacity() const { return capacity_; }
  // Bytes that no process uses.
  [[nodiscard]] uint64_t free_bytes();
  [[nodiscard]] Region& region() { return region_; }
  // Calls `visit(ledger)` while the device's lock is held.
  template <typename Visit>
  void ReadLedger(Visit visit) {
    const std::lock_guard<std::mutex> lock(mutex_);
    visit(static_cast<const Ledger&>(ledger_));
  }

 private:
  struct Taken {
    uint64_t bytes;
    LedgerRow* row;
  };

  // Charges the bytes to the device and returns true if they are free. Otherwise records the missing bytes in
  // the ledger. The caller must hold the lock.
  bool Count(uint64_t bytes, const Origin& origin);

  int number_;
  Region region_;
  uint64_t capacity_;
  SharedUse& use_;
  std::mutex mutex_;
  AddressSpace addresses_;
  std::map<uint64_t, Taken> allocations_;
  Ledger ledger_;
};

// Returns a device of TheSettings(), and creates it at the first call. The device is never destroyed, because
// libraries free memory at exit.
Device& DeviceNumber(int number);
// Returns true if DeviceNumber() has created a device.
bool AnyDevice();
// Returns the number of the device that contains `address`, or -1 if no created device contains it.
int DeviceOf(uint64_t address);

}  // namespace vramscope::simulated
