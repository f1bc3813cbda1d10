// SPDX-License-Identifier: Apache-2.0
// Conversion between the allocator's state and the form of a snapshot: Adopt reads it, Segments writes it.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/expandable_segments.h"
#include "profiler/allocator/heap.h"
#include "profiler/allocator/history.h"

namespace vramscope::allocator {

// Address range of an expandable segment. Its pages may be mapped or not.
struct ExpandableRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  StreamIndex stream = 0;
  PoolIndex pool = kDefaultPool;
  bool large = false;
};

// Adds a segment of a recording at its address, which must be unused. Its blocks must fill it.
void Adopt(Heap& heap, const SegmentState& segment);
// Adds a whole range of expandable memory, with the mapped runs in order of address.
void AdoptExpandable(Heap& heap, ExpandableSegments& expandable, const ExpandableRange& range,
                     const std::vector<const SegmentState*>& mapped);

// The segments as torch.cuda.memory_snapshot() would list them. O(blocks).
[[nodiscard]] std::vector<SegmentState> Segments(const Heap& heap);

}  // namespace vramscope::allocator
