// SPDX-License-Identifier: Apache-2.0
// The CUDA driver calls of the caching allocator.
//
// Why an interface: a replay answers with the recorded results. An estimate answers with a device of a given
// capacity (modeled_driver.h).
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

  // Free bytes as cudaMemGetInfo reports them. Only reported in events; no decision depends on it.
  virtual uint64_t FreeBytes() = 0;
};

}  // namespace vramscope::allocator
