// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/block_sizes.h"

#include <algorithm>
#include <iterator>

#include "profiler/allocator/replay.h"
#include "profiler/allocator/sizing.h"
#include "profiler/snapshot/history.h"

namespace vramscope::snapshot {
namespace {

// The block in use at `address`; nullptr if there is none. Segments and their blocks are in order of address.
const allocator::BlockState* BlockAt(const std::vector<allocator::SegmentState>& segments, uint64_t address) {
  const auto starts_behind = [](uint64_t at, const auto& range) { return at < range.address; };
  const auto segment = std::upper_bound(segments.begin(), segments.end(), address, starts_behind);
  if (segment == segments.begin()) return nullptr;
  const auto& blocks = std::prev(segment)->blocks;
  const auto block = std::upper_bound(blocks.begin(), blocks.end(), address, starts_behind);
  if (block == blocks.begin()) return nullptr;
  const allocator::BlockState& found = *std::prev(block);
  return found.address == address && found.use != allocator::BlockUse::kFree ? &found : nullptr;
}

}  // namespace

void AddBlockSizes(const Snapshot& snapshot, uint32_t device, DeviceTimeline* timeline) {
  if (!timeline->knows_segments || timeline->contradictions != 0) return;
  if (device >= snapshot.device_traces.size() || snapshot.event_count(device) == 0) return;
  allocator::BlockSizes sizes;
  const DeviceHistory read = ReadHistory(snapshot, device);
  if (!allocator::Replay(read.history, &sizes).ok() || sizes.by_event.empty()) return;

  for (size_t i = 0; i < sizes.by_event.size(); ++i) {
    const uint64_t bytes = sizes.by_event[i];
    if (bytes != 0 && bytes != allocator::PlainlyRounded(read.history.events[i].bytes))
      timeline->block_bytes[read.numbers[i]] = bytes;
  }
  for (EarlierBlock& block : timeline->earlier_blocks) {
    if (const allocator::BlockState* const found = BlockAt(sizes.initial, block.address))
      block.bytes = found->bytes;
  }
}

}  // namespace vramscope::snapshot
