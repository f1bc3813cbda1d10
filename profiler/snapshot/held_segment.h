// SPDX-License-Identifier: Apache-2.0
// Builds a segment of a snapshot from a range of allocated memory and the live blocks in this range.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {

struct LiveBlock {
  uint64_t bytes = 0;
  uint64_t requested = 0;
  uint64_t stream = 0;
  StackId stack = 0;
  BlockState state = BlockState::kAllocated;
};

// Returns a segment that covers `range`. It has the blocks of `live` (address -> block) in `range`, and free
// blocks between them. Leaves out a block that exceeds the range or overlaps an earlier block.
[[nodiscard]] Segment SegmentWith(const MemoryRange& range, const std::map<uint64_t, LiveBlock>& live);

// Joins each two consecutive elements of `ranges` that are adjacent and have the same stream.
[[nodiscard]] std::vector<MemoryRange> Merged(const std::vector<MemoryRange>& ranges);

}  // namespace vramscope::snapshot
