// SPDX-License-Identifier: Apache-2.0
// The expandable segments of a device. An expandable segment is an address range far larger than its memory;
// pages of memory are mapped into it as needed.
//
//   range   [ block | free | block |  unmapped ... | free | unmapped ................................ ]
//           pages of 2 MiB (small pool) or of the large segment size; only completely free pages are unmapped
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/heap.h"

namespace vramscope::allocator {

class ExpandableSegments {
 public:
  // Returns a block that is in no free list. Returns kNoBlock if the driver has too little memory or too few
  // addresses.
  BlockNumber Allocate(Heap& heap, const Heap::Request& request);
  // Returns the pages that lie completely inside a free block to the driver.
  void Unmap(Heap& heap, BlockNumber number);
  // Releases a range without any mapped memory.
  void Release(Heap& heap, BlockNumber number);
  // Adds an expandable segment of a recording. Returns its number, for Block::expandable.
  uint32_t Adopt(const Heap& heap, uint64_t address, uint64_t bytes, bool small);

 private:
  struct Range {
    uint64_t address = 0;
    uint64_t bytes = 0;  // 0 = released
    uint64_t page_bytes = 0;
  };

  BlockNumber Find(Heap& heap, const Heap::Request& request);
  BlockNumber ReserveRange(Heap& heap, const Heap::Request& request);
  // Maps memory for the first `bytes` of an unmapped block, and adds them to the free list. Returns false if
  // the driver has no more memory.
  bool Map(Heap& heap, BlockNumber number, uint64_t bytes);

  std::vector<Range> segments_;
};

}  // namespace vramscope::allocator
