// SPDX-License-Identifier: Apache-2.0
// Interface for the CUDA driver calls that the caching allocator makes.
//
// There are several implementations. A replay returns the recorded results. An estimate returns the results
// of a modeled device with a given capacity (modeled_driver.h).
#pragma once

#include <cstdint>

namespace vramscope::allocator {

class Driver {
 public:
  virtual ~Driver() = default;

  // cudaMalloc: returns the address, or 0 if the device has too little memory left.
  virtual uint64_t AllocateSegment(uint64_t bytes) = 0;
  // cudaFree.
  virtual void FreeSegment(uint64_t address, uint64_t bytes) = 0;

  // cuMemAddressReserve: returns the address, or 0 if no range is left.
  virtual uint64_t ReserveAddresses(uint64_t bytes) = 0;
  // cuMemAddressFree.
  virtual void ReleaseAddresses(uint64_t address, uint64_t bytes) = 0;
  // cuMemCreate for each page, then cuMemMap. Returns false and maps no page if memory runs out.
  virtual bool MapPages(uint64_t address, uint64_t bytes, uint64_t page_bytes) = 0;
  // cuMemUnmap and cuMemRelease.
  virtual void UnmapPages(uint64_t address, uint64_t bytes) = 0;

  // Returns the free bytes as cudaMemGetInfo reports them. The value appears only in events; no decision of
  // the allocator depends on it.
  virtual uint64_t FreeBytes() = 0;
};

}  // namespace vramscope::allocator
