// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/held_segment.h"

#include "profiler/allocator/sizing.h"

namespace vramscope::snapshot {

Segment SegmentWith(const MemoryRange& range, const std::map<uint64_t, LiveBlock>& live) {
  Segment segment;
  segment.address = range.address;
  segment.bytes = range.bytes;
  segment.stream = range.stream;
  segment.large = range.bytes > allocator::kSmallSegmentBytes;
  segment.requested_bytes = 0;
  uint64_t at = range.address;
  const auto free_until = [&](uint64_t end) {
    if (at < end) segment.blocks.push_back({at, end - at, 0, 0, BlockState::kInactive});
  };
  const uint64_t end = range.address + range.bytes;
  for (auto block = live.lower_bound(range.address); block != live.end() && block->first < end; ++block) {
    const LiveBlock& held = block->second;
    if (block->first < at || block->first + held.bytes > end) continue;
    free_until(block->first);
    segment.blocks.push_back({block->first, held.bytes, held.requested, held.stack, held.state});
    if (held.state == BlockState::kAllocated) segment.allocated_bytes += held.bytes;
    segment.active_bytes += held.bytes;
    segment.requested_bytes += held.requested;
    at = block->first + held.bytes;
  }
  free_until(end);
  return segment;
}

std::vector<MemoryRange> Merged(const std::vector<MemoryRange>& ranges) {
  std::vector<MemoryRange> merged;
  for (const MemoryRange& range : ranges) {
    const bool goes_on = !merged.empty() && merged.back().address + merged.back().bytes == range.address &&
                         merged.back().stream == range.stream;
    if (goes_on) {
      merged.back().bytes += range.bytes;
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

}  // namespace vramscope::snapshot
