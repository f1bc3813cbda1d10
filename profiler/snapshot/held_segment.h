// SPDX-License-Identifier: Apache-2.0
// Builds a segment and its blocks from the held memory and the live blocks in it.
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

// The blocks of `live` (by address) within `range`, and the free blocks between them. Leaves out blocks that
// reach beyond the range or overlap another.
[[nodiscard]] Segment SegmentWith(const MemoryRange& range, const std::map<uint64_t, LiveBlock>& live);

// Joins adjacent ranges of one stream.
[[nodiscard]] std::vector<MemoryRange> Merged(const std::vector<MemoryRange>& ranges);

}  // namespace vramscope::snapshot
