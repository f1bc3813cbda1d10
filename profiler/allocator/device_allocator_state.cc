// SPDX-License-Identifier: Apache-2.0
// Imports and exports the state of an allocator in the form of a snapshot.
#include <algorithm>

#include "profiler/allocator/device_allocator.h"

namespace vramscope::allocator {
namespace {

BlockStatus StatusOf(BlockUse use) {
  switch (use) {
    case BlockUse::kAllocated:
      return BlockStatus::kAllocated;
    case BlockUse::kPendingFree:
      return BlockStatus::kPendingFree;
    default:
      return BlockStatus::kFree;
  }
}

BlockUse UseOf(BlockStatus status) {
  switch (status) {
    case BlockStatus::kAllocated:
      return BlockUse::kAllocated;
    case BlockStatus::kPendingFree:
      return BlockUse::kPendingFree;
    default:
      return BlockUse::kFree;
  }
}

}  // namespace

// Adds one block of a recording after `previous`, and to its lists and statistics.
BlockNumber DeviceAllocator::AdoptBlock(const Block& like, const BlockState& state, BlockNumber previous) {
  Block block = like;
  block.address = state.address;
  block.bytes = state.bytes;
  block.status = StatusOf(state.use);
  block.requested_bytes = block.in_use() ? state.requested_bytes : 0;
  block.previous = previous;
  const BlockNumber number = blocks_.Add(block);
  if (previous != kNoBlock) blocks_[previous].next = number;
  if (!block.in_use()) return number;
  in_use_.Insert(block.address, number);
  const bool allocated = block.status == BlockStatus::kAllocated;
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(block.small)}) {
    if (allocated) of->allocation.Add(1);
    if (allocated) of->allocated_bytes.Add(block.bytes);
    of->active.Add(1);
    of->active_bytes.Add(block.bytes);
    of->requested_bytes.Add(block.requested_bytes);
  }
  if (allocated && block.bytes >= settings_.max_split_bytes) statistics_.oversize_allocations.Add(1);
  if (!allocated) ++pending_frees_;
  return number;
}

// Adds the free blocks from `first` on: their neighbors are known now.
void DeviceAllocator::AdoptFreeBlocks(BlockNumber first) {
  for (BlockNumber i = first; i != kNoBlock; i = blocks_[i].next) {
    if (blocks_[i].status != BlockStatus::kFree) continue;
    InsertFree(i);
    if (blocks_[i].split()) CountSplitFree(blocks_[i], 1, static_cast<int64_t>(blocks_[i].bytes));
  }
}

void DeviceAllocator::Adopt(const SegmentState& segment) {
  Block like;
  like.stream = segment.stream;
  like.pool = segment.pool;
  like.small = !segment.large;
  if (release_->prefers_older_segments && segment.registration >= 0) {
    like.registration = static_cast<uint32_t>(segment.registration + 1);
    registrations_ = std::max(registrations_, like.registration);
  }
  BlockNumber first = kNoBlock, previous = kNoBlock;
  for (const BlockState& state : segment.blocks) {
    previous = AdoptBlock(like, state, previous);
    if (first == kNoBlock) first = previous;
  }
  AdoptFreeBlocks(first);
  Reserve(like.small, segment.bytes);
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(like.small)}) of->segment.Add(1);
  if (segment.bytes >= settings_.max_split_bytes) statistics_.oversize_segments.Add(1);
  pools_[segment.pool].exists = true;
  if (segment.pool != kDefaultPool) ++pools_[segment.pool].device_allocations;
}

void DeviceAllocator::AdoptExpandable(const ExpandableRange& range,
                                      const std::vector<const SegmentState*>& mapped) {
  Block like;
  like.stream = range.stream;
  like.pool = range.pool;
  like.small = !range.large;
  like.expandable = static_cast<uint32_t>(expandable_.size());
  expandable_.push_back({range.address, range.bytes, PageBytes(like.small)});
  BlockNumber first = kNoBlock, previous = kNoBlock;
  const auto add = [&](BlockNumber number) {
    previous = number;
    if (first == kNoBlock) first = number;
  };
  const auto add_unmapped = [&](uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    add(AdoptBlock(like, {begin, end - begin, 0, BlockUse::kFree}, previous));
    blocks_[previous].status = BlockStatus::kUnmapped;
    InsertUnmapped(previous);
  };
  uint64_t at = range.address;
  for (const SegmentState* run : mapped) {
    add_unmapped(at, run->address);
    for (const BlockState& state : run->blocks) add(AdoptBlock(like, state, previous));
    at = run->address + run->bytes;
    Reserve(like.small, run->bytes);
    if (range.pool != kDefaultPool) ++pools_[range.pool].device_allocations;
  }
  add_unmapped(at, range.address + range.bytes);
  AdoptFreeBlocks(first);
  pools_[range.pool].exists = true;
}

std::vector<SegmentState> DeviceAllocator::Segments() const {
  std::vector<SegmentState> segments;
  for (const Block& head : blocks_.places()) {
    const bool is_head =
        head.bytes != 0 && head.mapped() && (head.previous == kNoBlock || !blocks_[head.previous].mapped());
    if (!is_head) continue;
    SegmentState segment;
    segment.address = head.address;
    segment.stream = head.stream;
    segment.pool = head.pool;
    segment.large = !head.small;
    segment.expandable = head.is_expandable();
    segment.registration = static_cast<int64_t>(head.registration) - 1;
    for (const Block* block = &head; block->mapped(); block = &blocks_[block->next]) {
      segment.blocks.push_back({block->address, block->bytes, block->requested_bytes, UseOf(block->status)});
      segment.bytes += block->bytes;
      if (block->next == kNoBlock) break;
    }
    segments.push_back(std::move(segment));
  }
  std::sort(segments.begin(), segments.end(),
            [](const SegmentState& a, const SegmentState& b) { return a.address < b.address; });
  return segments;
}

}  // namespace vramscope::allocator
