// SPDX-License-Identifier: Apache-2.0
// Physical memory, reserved addresses, and the mappings between them (cuMemCreate, cuMemAddressReserve,
// cuMemMap).
//
//   handle  ◄── created once, counted again for every mapping; its memory is freed when no handle and no
//              mapping is left
//   address ◄── reserved; may hold any number of mappings, none of which overlap
//
// Contents belong to the address: two mappings of one handle do not share their bytes. An exported handle
// gets a file, whose contents all importers share. The memory counts for its creator.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/device/ledger.h"

namespace vramscope::simulated {

using PhysicalHandle = uint64_t;  // CUmemGenericAllocationHandle

class VirtualMemory {
 public:
  // All return kSuccess or a CUDA error. kInvalidValue unless sizes and addresses are multiples of the
  // granule.
  int Create(int device, uint64_t bytes, const Origin& origin, PhysicalHandle* handle);
  int Release(PhysicalHandle handle);
  // The handle mapped there, with its count increased.
  int Retain(uint64_t address, PhysicalHandle* handle);

  int Reserve(int device, uint64_t bytes, uint64_t alignment, uint64_t wanted, uint64_t* address);
  int FreeAddresses(uint64_t address, uint64_t bytes);

  int Map(uint64_t address, uint64_t bytes, PhysicalHandle handle);
  // Removes all mappings in the range. The range must begin and end at boundaries of mappings.
  int Unmap(uint64_t address, uint64_t bytes);

  // A new descriptor of the handle's file. kInvalidValue if there is no such handle.
  int Export(PhysicalHandle handle, int* file);
  // A handle for memory that another process has exported. kInvalidValue for other descriptors;
  // kInvalidDevice if its device is not visible. The caller keeps its descriptor.
  int Import(int file, PhysicalHandle* handle);

  // -1 if there is no such handle.
  int DeviceOfHandle(PhysicalHandle handle);
  // The reservation that contains the address; false if there is none.
  bool FindReservation(uint64_t address, uint64_t* begin, uint64_t* bytes);

 private:
  struct Physical {
    int device;
    uint64_t bytes;
    LedgerRow* row;  // nullptr = another process's
    uint32_t references;
    int file = -1;  // of the contents, once they are shared
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
