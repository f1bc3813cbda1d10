// SPDX-License-Identifier: Apache-2.0
// Allocates ranges of device addresses by first fit, in multiples of `granule` bytes.
//
// NVIDIA does not document the order in which the real driver assigns addresses. First fit gives the same
// addresses in each run. First fit also gives adjacent addresses to consecutive requests, as on a real GPU.
// This class manages only addresses; another class (ledger.h) counts the memory.
//
//   granule 2 MiB: Take(3 MiB) = base, Take(1 MiB) = base + 4 MiB, Give(base, 3 MiB), Take(2 MiB) = base
#pragma once

#include <cstdint>
#include <map>

namespace vramscope::simulated {

class AddressSpace {
 public:
  AddressSpace(uint64_t begin, uint64_t bytes, uint64_t granule);

  // Takes the lowest free range of `bytes` (rounded up to the granule) that begins at a multiple of
  // `alignment`, a power of two. `alignment` 0 means the granule. Returns the range's address, or 0 if there
  // is none or `bytes` is 0. O(free ranges).
  uint64_t Take(uint64_t bytes, uint64_t alignment = 0);
  // Takes the range at `address`. Returns false if the range is not free.
  bool TakeAt(uint64_t address, uint64_t bytes);
  // Frees a range. `bytes` is the number that was passed to Take or TakeAt.
  void Give(uint64_t address, uint64_t bytes);

  [[nodiscard]] uint64_t Rounded(uint64_t bytes) const {
    return (bytes + granule_ - 1) / granule_ * granule_;
  }
  [[nodiscard]] uint64_t free_bytes() const { return free_bytes_; }

 private:
  void Cut(std::map<uint64_t, uint64_t>::iterator range, uint64_t address, uint64_t bytes);

  uint64_t granule_;
  uint64_t free_bytes_;
  std::map<uint64_t, uint64_t> free_;  // begin -> bytes; adjacent free ranges are merged
};

}  // namespace vramscope::simulated
