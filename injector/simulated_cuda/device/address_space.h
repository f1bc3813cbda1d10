// SPDX-License-Identifier: Apache-2.0
// Hands out ranges of addresses, first fit, in multiples of a granule.
//
// The driver's own order is not documented. First fit gives the same addresses in each run, and neighbors to
// consecutive requests, as on a GPU. The memory at these addresses is managed elsewhere.
//
//   granule 2 MiB: Take(3 MiB) = base, Take(1 MiB) = base + 4 MiB, Give(base, 3 MiB), Take(2 MiB) = base
#pragma once

#include <cstdint>
#include <map>

namespace vramscope::simulated {

class AddressSpace {
 public:
  AddressSpace(uint64_t begin, uint64_t bytes, uint64_t granule);

  // The lowest free range of `bytes`, rounded up, at a multiple of `alignment` (a power of two; 0 = the
  // granule). 0 if there is none or `bytes` is 0. O(free ranges).
  uint64_t Take(uint64_t bytes, uint64_t alignment = 0);
  // Takes the range at `address` if it is free.
  bool TakeAt(uint64_t address, uint64_t bytes);
  // `bytes`: as passed to Take.
  void Give(uint64_t address, uint64_t bytes);

  [[nodiscard]] uint64_t Rounded(uint64_t bytes) const {
    return (bytes + granule_ - 1) / granule_ * granule_;
  }
  [[nodiscard]] uint64_t free_bytes() const { return free_bytes_; }

 private:
  void Cut(std::map<uint64_t, uint64_t>::iterator range, uint64_t address, uint64_t bytes);

  uint64_t granule_;
  uint64_t free_bytes_;
  std::map<uint64_t, uint64_t> free_;  // begin -> bytes; no two touch
};

}  // namespace vramscope::simulated
