// SPDX-License-Identifier: Apache-2.0
// A segment and its blocks, from the memory that is held and the blocks that live in it.
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

// The blocks of `live` (by address) that lie in `range`, and what is free between them. Those that reach
// beyond it or into each other are left out.
[[nodiscard]] Segment SegmentWith(const MemoryRange& range, const std::map<uint64_t, LiveBlock>& live);

// Neighbours of one stream without a gap become one.
[[nodiscard]] std::vector<MemoryRange> Merged(const std::vector<MemoryRange>& ranges);

}  // namespace vramscope::snapshot
