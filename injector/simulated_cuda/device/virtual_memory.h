// SPDX-License-Identifier: Apache-2.0
// CUDA's virtual memory management on the simulated GPU: physical memory, reserved addresses, and the
// mappings between them (cuMemCreate, cuMemAddressReserve, cuMemMap).
//
//   handle   physical memory with a reference count: 1 after Create, + 1 for each mapping and each Retain.
//            The memory is freed when the count reaches 0.
//   address  reserved; may contain any number of mappings, which do not overlap
//
// Unlike on a GPU, two mappings of one handle do not share their bytes, because contents are stored by
// address. An exported handle gets a file; all processes that import the handle share the file's contents.
// The memory is counted for the process that created the handle.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/device/ledger.h"

namespace vramscope::simulated {

using PhysicalHandle = uint64_t;  // CUmemGenericAllocationHandle

class VirtualMemory {
 public:
  // All functions of type int return kSuccess or a CUDA error, except DeviceOfHandle. Sizes and addresses
  // must be multiples of the allocation granularity; otherwise the error is kInvalidValue.
  int Create(int device, uint64_t bytes, const Origin& origin, PhysicalHandle* handle);
  int Release(PhysicalHandle handle);
  // Sets `*handle` to the handle that is mapped at `address` and increases the handle's reference count.
  int Retain(uint64_t address, PhysicalHandle* handle);

  int Reserve(int device, uint64_t bytes, uint64_t alignment, uint64_t wanted, uint64_t* address);
  int FreeAddresses(uint64_t address, uint64_t bytes);

  int Map(uint64_t address, uint64_t bytes, PhysicalHandle handle);
  // Removes all mappings in the range. The range must begin and end at boundaries of mappings.
  int Unmap(uint64_t address, uint64_t bytes);

  // Sets `*file` to a new descriptor of the handle's file. kInvalidValue if there is no such handle.
  int Export(PhysicalHandle handle, int* file);
  // Creates a handle for memory that another process has exported. `file`: a descriptor from Export; the
  // caller still has to close it. kInvalidValue for a descriptor of another file; kInvalidDevice if the
  // memory's device is not visible to this process.
  int Import(int file, PhysicalHandle* handle);

  // Returns the number of the handle's device; -1 if there is no such handle.
  int DeviceOfHandle(PhysicalHandle handle);
  // Finds the reserved range that contains `address`; false if there is none.
  bool FindReservation(uint64_t address, uint64_t* begin, uint64_t* bytes);

 private:
  struct Physical {
    int device;
    uint64_t bytes;
    LedgerRow* row;  // nullptr = another process created the memory
    uint32_t references;
    int file = -1;  // file with the contents; -1 = the memory was never exported or imported
  };
  struct Mapping {
    uint64_t bytes;
    PhysicalHandle handle;
  };
  struct Reservation {
    uint64_t bytes;
    int device;
  };

  int Drop(PhysicalHandle handle);

  std::mutex mutex_;
  PhysicalHandle next_ = 1;
  std::map<PhysicalHandle, Physical> physical_;
  std::map<uint64_t, Mapping> mappings_;
  std::map<uint64_t, Reservation> reservations_;
};

VirtualMemory& TheVirtualMemory();

}  // namespace vramscope::simulated
