// SPDX-License-Identifier: Apache-2.0
// Expandable segments: address ranges far larger than their memory. Pages are mapped as needed.
//
//   range   [ block | free | block |  unmapped ... | free | unmapped ................................ ]
//           pages of 2 MiB (small) or of the large segment's size. Only wholly free pages are unmapped again
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/heap.h"

namespace vramscope::allocator {

class ExpandableSegments {
 public:
  // Returns a block that is in no free list. kNoBlock: the driver has too little memory or too few addresses.
  BlockNumber Allocate(Heap& heap, const Heap::Request& request);
  // Gives back the pages that lie completely inside a free block.
  void Unmap(Heap& heap, BlockNumber number);
  // Releases a range without any mapped memory.
  void Release(Heap& heap, BlockNumber number);
  // Adds a range of a recording. Returns its number, for Block::expandable.
  uint32_t Adopt(const Heap& heap, uint64_t address, uint64_t bytes, bool small);

 private:
  struct Range {
    uint64_t address = 0;
    uint64_t bytes = 0;  // 0 = released
    uint64_t page_bytes = 0;
  };

  BlockNumber Find(Heap& heap, const Heap::Request& request);
  BlockNumber ReserveRange(Heap& heap, const Heap::Request& request);
  // Maps the first `bytes` of an unmapped block into the free list. Returns false if the driver has no more
  // memory.
  bool Map(Heap& heap, BlockNumber number, uint64_t bytes);

  std::vector<Range> segments_;
};

}  // namespace vramscope::allocator
