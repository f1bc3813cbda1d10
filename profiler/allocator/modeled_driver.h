// SPDX-License-Identifier: Apache-2.0
// A model of the CUDA driver for a device with a given capacity, for predictions about changed runs. Counts
// the used memory and returns a new address for each segment.
//
// Addresses are never reused. The allocator compares addresses only to choose among free blocks of equal
// size.
#pragma once

#include <algorithm>
#include <cstdint>

#include "profiler/allocator/driver.h"

namespace vramscope::allocator {

class ModeledDriver : public Driver {
 public:
  static constexpr uint64_t kUnlimited = ~uint64_t{0};
  // cudaMalloc and cuMemCreate take whole granules of 2 MiB on every GPU since Volta.
  static constexpr uint64_t kGranule = uint64_t{2} << 20;

  // `capacity`: bytes available to PyTorch, without the CUDA context and other processes. Addresses begin at
  // `first_address`.
  explicit ModeledDriver(uint64_t capacity = kUnlimited, uint64_t first_address = uint64_t{1} << 40)
      : free_(capacity), next_(first_address) {}

  // Counts a segment that existed before the run as allocated. The segment's address must be below
  // `first_address`.
  void Hold(uint64_t bytes) { free_ -= std::min(free_, Whole(bytes)); }

  uint64_t AllocateSegment(uint64_t bytes) override { return Take(bytes) ? TakeAddresses(bytes) : 0; }
  void FreeSegment(uint64_t, uint64_t bytes) override { free_ += Whole(bytes); }
  uint64_t ReserveAddresses(uint64_t bytes) override { return TakeAddresses(bytes); }
  void ReleaseAddresses(uint64_t, uint64_t) override {}
  bool MapPages(uint64_t, uint64_t bytes, uint64_t) override { return Take(bytes); }
  void UnmapPages(uint64_t, uint64_t bytes) override { free_ += Whole(bytes); }
  uint64_t FreeBytes() override { return free_; }

 private:
  static uint64_t Whole(uint64_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

  bool Take(uint64_t bytes) {
    if (Whole(bytes) > free_) return false;
    free_ -= Whole(bytes);
    return true;
  }
  uint64_t TakeAddresses(uint64_t bytes) {
    const uint64_t address = next_;
    next_ += Whole(bytes) + kGranule;
    return address;
  }

  uint64_t free_;
  uint64_t next_;
};

}  // namespace vramscope::allocator
