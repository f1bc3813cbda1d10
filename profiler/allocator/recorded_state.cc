// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/recorded_state.h"

#include <algorithm>
#include <utility>

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

// Adds one block of a recording after `previous`, and updates the lists and statistics.
BlockNumber AdoptBlock(Heap& heap, const Block& like, const BlockState& state, BlockNumber previous) {
  Block block = like;
  block.address = state.address;
  block.bytes = state.bytes;
  block.status = StatusOf(state.use);
  block.requested_bytes = block.in_use() ? state.requested_bytes : 0;
  block.previous = previous;
  const BlockNumber number = heap.blocks.Add(block);
  if (previous != kNoBlock) heap.blocks[previous].next = number;
  if (!block.in_use()) return number;
  heap.in_use.Insert(block.address, number);
  const bool allocated = block.status == BlockStatus::kAllocated;
  for (PoolStatistics* of : {&heap.statistics.all, &heap.StatisticsOf(block.small)}) {
    if (allocated) of->allocation.Add(1);
    if (allocated) of->allocated_bytes.Add(block.bytes);
    of->active.Add(1);
    of->active_bytes.Add(block.bytes);
    of->requested_bytes.Add(block.requested_bytes);
  }
  if (allocated && block.bytes >= heap.settings.max_split_bytes) heap.statistics.oversize_allocations.Add(1);
  if (!allocated) ++heap.pending_frees;
  return number;
}

// Puts the free blocks from `first` on in the free lists. All their neighbors must have been added.
void AdoptFreeBlocks(Heap& heap, BlockNumber first) {
  for (BlockNumber i = first; i != kNoBlock; i = heap.blocks[i].next) {
    if (heap.blocks[i].status != BlockStatus::kFree) continue;
    heap.InsertFree(i);
    if (heap.blocks[i].split())
      heap.CountSplitFree(heap.blocks[i], 1, static_cast<int64_t>(heap.blocks[i].bytes));
  }
}

}  // namespace

void Adopt(Heap& heap, const SegmentState& segment) {
  Block like;
  like.stream = segment.stream;
  like.pool = segment.pool;
  like.small = !segment.large;
  if (heap.release->prefers_older_segments && segment.registration >= 0) {
    like.registration = static_cast<uint32_t>(segment.registration + 1);
    heap.registrations = std::max(heap.registrations, like.registration);
  }
  BlockNumber first = kNoBlock, previous = kNoBlock;
  for (const BlockState& state : segment.blocks) {
    previous = AdoptBlock(heap, like, state, previous);
    if (first == kNoBlock) first = previous;
  }
  AdoptFreeBlocks(heap, first);
  heap.Reserve(like.small, segment.bytes);
  for (PoolStatistics* of : {&heap.statistics.all, &heap.StatisticsOf(like.small)}) of->segment.Add(1);
  if (segment.bytes >= heap.settings.max_split_bytes) heap.statistics.oversize_segments.Add(1);
  heap.pools[segment.pool].exists = true;
  if (segment.pool != kDefaultPool) ++heap.pools[segment.pool].device_allocations;
}

void AdoptExpandable(Heap& heap, ExpandableSegments& expandable, const ExpandableRange& range,
                     const std::vector<const SegmentState*>& mapped) {
  Block like;
  like.stream = range.stream;
  like.pool = range.pool;
  like.small = !range.large;
  like.expandable = expandable.Adopt(heap, range.address, range.bytes, like.small);
  BlockNumber first = kNoBlock, previous = kNoBlock;
  const auto add = [&](BlockNumber number) {
    previous = number;
    if (first == kNoBlock) first = number;
  };
  const auto add_unmapped = [&](uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    add(AdoptBlock(heap, like, {begin, end - begin, 0, BlockUse::kFree}, previous));
    heap.blocks[previous].status = BlockStatus::kUnmapped;
    heap.InsertUnmapped(previous);
  };
  uint64_t at = range.address;
  for (const SegmentState* run : mapped) {
    add_unmapped(at, run->address);
    for (const BlockState& state : run->blocks) add(AdoptBlock(heap, like, state, previous));
    at = run->address + run->bytes;
    heap.Reserve(like.small, run->bytes);
    if (range.pool != kDefaultPool) ++heap.pools[range.pool].device_allocations;
  }
  add_unmapped(at, range.address + range.bytes);
  AdoptFreeBlocks(heap, first);
  heap.pools[range.pool].exists = true;
}

std::vector<SegmentState> Segments(const Heap& heap) {
  std::vector<SegmentState> segments;
  for (const Block& head : heap.blocks.places()) {
    const bool is_head = head.bytes != 0 && head.mapped() &&
                         (head.previous == kNoBlock || !heap.blocks[head.previous].mapped());
    if (!is_head) continue;
    SegmentState segment;
    segment.address = head.address;
    segment.stream = head.stream;
    segment.pool = head.pool;
    segment.large = !head.small;
    segment.expandable = head.is_expandable();
    segment.registration = static_cast<int64_t>(head.registration) - 1;
    for (const Block* block = &head; block->mapped(); block = &heap.blocks[block->next]) {
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
