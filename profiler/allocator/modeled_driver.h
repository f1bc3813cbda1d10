// SPDX-License-Identifier: Apache-2.0
// A device of a given capacity, for questions about hypothetical runs. Its addresses only grow.
//
// Why growing addresses: the allocator uses addresses only to break ties among free blocks of one size, and
// the result on a real device is not known either. The order in which segments were created is the fairest
// guess, and the rule from 2.11 on.
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

  // `capacity` is what PyTorch can have: the device without its context and the memory of other users.
  // Addresses begin at `first_address`.
  explicit ModeledDriver(uint64_t capacity = kUnlimited, uint64_t first_address = uint64_t{1} << 40)
      : free_(capacity), next_(first_address) {}

  // From now on an earlier segment is held, at an address below the first.
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
