// SPDX-License-Identifier: Apache-2.0
// Converts between the segments of a snapshot (SegmentState) and the state of the modeled allocator (Heap).
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/expandable_segments.h"
#include "profiler/allocator/heap.h"
#include "profiler/allocator/history.h"

namespace vramscope::allocator {

// The address range of an expandable segment, including its unmapped pages.
struct ExpandableRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  StreamIndex stream = 0;
  PoolIndex pool = kDefaultPool;
  bool large = false;
};

// Adds a segment of a recording to `heap`. The segment's addresses must be unused, and its blocks must cover
// the segment without gaps.
void Adopt(Heap& heap, const SegmentState& segment);
// Adds an expandable segment to `heap`. `mapped`: all contiguous runs of mapped pages in `range`, in order of
// address.
void AdoptExpandable(Heap& heap, ExpandableSegments& expandable, const ExpandableRange& range,
                     const std::vector<const SegmentState*>& mapped);

// Returns the segments of `heap` as torch.cuda.memory_snapshot() would list them. O(blocks).
[[nodiscard]] std::vector<SegmentState> Segments(const Heap& heap);

}  // namespace vramscope::allocator
