// SPDX-License-Identifier: Apache-2.0
// The memory of one simulated device: taken by whom, at which addresses.
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
  // `use`: what other processes have taken; must outlive this.
  Device(int number, uint64_t capacity, SharedUse& use);

  // kSuccess, kOutOfMemory, or kInvalidValue for 0 bytes. Takes whole granules.
  int Allocate(uint64_t bytes, const Origin& origin, uint64_t* address);
  // kInvalidValue if no allocation begins there.
  int Free(uint64_t address);
  Allocation Find(uint64_t address);

  // Takes memory without an address. Returns the ledger row for GivePhysical; nullptr if the device is full.
  LedgerRow* TakePhysical(uint64_t bytes, const Origin& origin);
  void GivePhysical(LedgerRow* row, uint64_t bytes);

  // Addresses without memory.
  uint64_t ReserveAddresses(uint64_t bytes, uint64_t alignment, uint64_t wanted);
  void GiveAddresses(uint64_t address, uint64_t bytes);

  [[nodiscard]] uint64_t capacity() const { return capacity_; }
  // Bytes that no process has taken.
  [[nodiscard]] uint64_t free_bytes();
  [[nodiscard]] Region& region() { return region_; }
  // Calls `visit(ledger)` under the lock.
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

  // Counts the bytes as taken if they are free. Otherwise notes the missing bytes in the ledger. Call under
  // the lock.
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

// The devices of TheSettings(), created at the first call. Never destroyed: libraries free memory at exit.
Device& DeviceNumber(int number);
// False in a process that never used CUDA.
bool AnyDevice();
// The device of an address; -1 = none, also before the first DeviceNumber.
int DeviceOf(uint64_t address);

}  // namespace vramscope::simulated
