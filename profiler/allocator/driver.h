// SPDX-License-Identifier: Apache-2.0
// What the caching allocator asks of the CUDA driver, and nothing else: memory with addresses, addresses
// without memory, pages.
//
// Why an interface: in a replay the answers are those that were recorded, addresses included; in an estimate
// they come from a device of a given capacity (modelled_driver.h); in the differential test from the device
// that PyTorch itself ran on.
#pragma once

#include <cstdint>

namespace vramscope::allocator {

class Driver {
 public:
  virtual ~Driver() = default;

  // cudaMalloc: the address, 0 when the device has not so much left.
  virtual uint64_t AllocateSegment(uint64_t bytes) = 0;
  // cudaFree.
  virtual void FreeSegment(uint64_t address, uint64_t bytes) = 0;

  // cuMemAddressReserve: the address, 0 when no range is left.
  virtual uint64_t ReserveAddresses(uint64_t bytes) = 0;
  // cuMemAddressFree.
  virtual void ReleaseAddresses(uint64_t address, uint64_t bytes) = 0;
  // cuMemCreate of each page, then cuMemMap: false when memory for one of them is missing, and then none is
  // mapped.
  virtual bool MapPages(uint64_t address, uint64_t bytes, uint64_t page_bytes) = 0;
  // cuMemUnmap and cuMemRelease.
  virtual void UnmapPages(uint64_t address, uint64_t bytes) = 0;

  // What cudaMemGetInfo calls free; only told in events, decides nothing.
  virtual uint64_t FreeBytes() = 0;
};

}  // namespace vramscope::allocator
