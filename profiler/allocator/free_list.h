// SPDX-License-Identifier: Apache-2.0
// The free blocks of one stream in one pool, ordered by size, then by address. From PyTorch 2.11 on, the age
// of the segment comes before the address.
//
//   free blocks        2048 at 0x200   512 at 0x400   512 at 0x100
//   order              512 at 0x100    512 at 0x400   2048 at 0x200
//   request for 512    gets 0x100      request for 1024   gets 0x200
//
// PyTorch: BlockComparatorSize in c10/cuda/CUDACachingAllocator.cpp, 1.13 to 2.15.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "profiler/allocator/block.h"

namespace vramscope::allocator {

class FreeList {
 public:
  struct Entry {
    uint64_t bytes;
    uint64_t address;
    BlockNumber block;
    uint32_t registration = 0;
  };
  // A position in the list; valid until the list changes.
  struct Position {
    size_t chunk;
    size_t slot;
    friend bool operator==(const Position&, const Position&) = default;
  };

  [[nodiscard]] bool empty() const { return chunks_.front().empty(); }
  [[nodiscard]] Position begin() const { return {0, 0}; }
  [[nodiscard]] Position end() const { return empty() ? Position{0, 0} : Position{chunks_.size(), 0}; }
  [[nodiscard]] const Entry& At(Position at) const { return chunks_[at.chunk][at.slot]; }
  [[nodiscard]] Position After(Position at) const {
    if (at.slot + 1 < chunks_[at.chunk].size()) return {at.chunk, at.slot + 1};
    return {at.chunk + 1, 0};
  }
  // Returns the position before `at`, which must not be begin().
  [[nodiscard]] Position Before(Position at) const {
    if (at.slot > 0) return {at.chunk, at.slot - 1};
    return {at.chunk - 1, chunks_[at.chunk - 1].size() - 1};
  }

  // The first entry with at least `bytes` bytes; end() if there is none. O(log n).
  [[nodiscard]] Position FirstFit(uint64_t bytes) const { return LowerBound({bytes, 0, 0}); }

  void Insert(const Entry& entry);
  void Erase(Position at);
  // Erases the entry with these values. The entry must be in the list.
  void Erase(uint64_t bytes, uint32_t registration, uint64_t address) {
    Erase(LowerBound({bytes, registration, address}));
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& chunk : chunks_) {
      for (const Entry& entry : chunk) visit(entry);
    }
  }

 private:
  static constexpr size_t kChunk = 128;  // entries: an insertion moves at most 3 KiB

  using Key = std::tuple<uint64_t, uint32_t, uint64_t>;

  static bool Less(const Entry& entry, const Key& key) {
    return std::tie(entry.bytes, entry.registration, entry.address) < key;
  }
  [[nodiscard]] Position LowerBound(const Key& key) const;

  // Sorted chunks of entries. There is always at least one chunk; a chunk is empty only if the list is empty.
  std::vector<std::vector<Entry>> chunks_ = std::vector<std::vector<Entry>>(1);
};

}  // namespace vramscope::allocator
