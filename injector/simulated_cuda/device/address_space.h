// SPDX-License-Identifier: Apache-2.0
// Hands out ranges of addresses, first fit, in multiples of a granule.
//
// Why first fit: the driver's own order is not documented; the lowest free address makes two runs of one
// program give the same addresses, and whoever asks twice gets neighbours, as on a GPU. Knows nothing of the
// memory behind the addresses.
#pragma once

#include <cstdint>
#include <map>

namespace vramscope::simulated {

class AddressSpace {
 public:
  AddressSpace(uint64_t begin, uint64_t bytes, uint64_t granule);

  // The lowest free range of `bytes`, rounded up to the granule, that begins at a multiple of `alignment` (a
  // power of two; 0 = the granule's). 0 when there is none or `bytes` is 0. O(free ranges).
  uint64_t Take(uint64_t bytes, uint64_t alignment = 0);
  // Exactly that range, when it is free.
  bool TakeAt(uint64_t address, uint64_t bytes);
  // `bytes` as given to Take.
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
