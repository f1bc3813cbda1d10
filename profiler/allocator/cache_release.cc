// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/cache_release.h"

#include <algorithm>
#include <vector>

#include "trace_format/check.h"

namespace vramscope::allocator {
namespace {

int64_t Age(const Heap& heap, const Block& block) {
  const Heap::Pool& pool = heap.pools[block.pool];
  return (block.small ? pool.small : pool.large).searches - block.searches_before;
}

// Releases a segment that consists of one free block.
void ReleaseBlock(Heap& heap, BlockNumber number) {
  const Block block = heap.blocks[number];
  VRAMSCOPE_CHECK(!block.split() && !block.is_expandable());
  ++heap.statistics.num_device_free;
  heap.Tell(Action::kSegmentFree, block.address, block.bytes, block.stream, block.pool);
  heap.driver->FreeSegment(block.address, block.bytes);
  if (block.pool != kDefaultPool) --heap.pools[block.pool].device_allocations;
  heap.Unreserve(block.small, block.bytes);
  for (PoolStatistics* of : {&heap.statistics.all, &heap.StatisticsOf(block.small)}) of->segment.Subtract(1);
  if (block.bytes >= heap.settings.max_split_bytes) heap.statistics.oversize_segments.Subtract(1);
  heap.EraseFree(block);
  heap.blocks.Delete(number);
}

void ReleaseBlocks(Heap& heap, ExpandableSegments& expandable, Heap::BlockPool& pool) {
  std::vector<BlockNumber> whole, parts;
  for (const StreamIndex stream : heap.StreamsByHandle()) {
    if (stream >= pool.free.size()) continue;
    pool.free[stream].ForEach([&](const FreeList::Entry& entry) {
      const Block& block = heap.blocks[entry.block];
      if (block.is_expandable()) {
        parts.push_back(entry.block);
      } else if (!block.split()) {
        whole.push_back(entry.block);
      }
    });
  }
  for (const BlockNumber number : whole) ReleaseBlock(heap, number);
  for (const BlockNumber number : parts) {
    expandable.Unmap(heap, number);
    if (!heap.blocks[number].split() && !heap.blocks[number].mapped()) expandable.Release(heap, number);
  }
}

size_t CollectOlderThan(Heap& heap, double age, uint64_t* reclaimed, int64_t* total_age) {
  std::vector<BlockNumber> old;
  for (const StreamIndex stream : heap.StreamsByHandle()) {
    heap.FreeListFor(heap.pools[kDefaultPool].large, stream).ForEach([&](const FreeList::Entry& entry) {
      const Block& block = heap.blocks[entry.block];
      if (block.split() || block.is_expandable() || static_cast<double>(Age(heap, block)) < age) return;
      *reclaimed += block.bytes;
      *total_age -= Age(heap, block);
      old.push_back(entry.block);
    });
  }
  for (const BlockNumber number : old) ReleaseBlock(heap, number);
  return old.size();
}

}  // namespace

void CollectGarbage(Heap& heap) {
  const auto threshold = static_cast<uint64_t>(heap.settings.garbage_collection_threshold *
                                               static_cast<double>(*heap.limit_bytes));
  if (heap.reserved_bytes <= threshold) return;
  const uint64_t target = heap.reserved_bytes - threshold;
  uint64_t reclaimed = 0;
  int64_t total_age = 0;
  size_t count = 0;
  for (const FreeList& list : heap.pools[kDefaultPool].large.free) {
    list.ForEach([&](const FreeList::Entry& entry) {
      if (heap.blocks[entry.block].split()) return;
      total_age += Age(heap, heap.blocks[entry.block]);
      ++count;
    });
  }
  for (size_t freed = 1; reclaimed < target && freed > 0 && count > 0; count -= freed) {
    freed = CollectOlderThan(heap, static_cast<double>(total_age) / static_cast<double>(count), &reclaimed,
                             &total_age);
  }
}

bool ReleaseAvailable(Heap& heap, const Heap::Request& request) {
  if (heap.settings.max_split_bytes == kUnlimited) return false;
  const uint64_t wanted = std::max(request.bytes, heap.settings.max_split_bytes);
  FreeList& list = heap.FreeListFor(*request.pool, request.stream);
  const FreeList::Position fit = list.FirstFit(wanted);
  // PyTorch does not test split() here, because it never splits blocks of this size. A recorded state may
  // contain split blocks from before max_split_size_mb was set.
  const auto is_segment = [&](const Block& block) { return !block.is_expandable() && !block.split(); };
  if (fit != list.end() && is_segment(heap.blocks[list.At(fit).block])) {
    ReleaseBlock(heap, list.At(fit).block);
    return true;
  }
  std::vector<BlockNumber> released;
  uint64_t bytes = 0;
  for (FreeList::Position at = fit; at != list.begin() && bytes < wanted;) {
    at = list.Before(at);
    const Block& block = heap.blocks[list.At(at).block];
    if (block.bytes < heap.settings.max_split_bytes) break;
    if (!is_segment(block)) continue;
    bytes += block.bytes;
    released.push_back(list.At(at).block);
  }
  for (const BlockNumber number : released) ReleaseBlock(heap, number);
  return bytes >= wanted;
}

void ReleaseCached(Heap& heap, ExpandableSegments& expandable, PoolIndex pool) {
  if (pool == kDefaultPool && !heap.DefersFrees()) {
    heap.CompletePendingFrees(std::nullopt);
    ReleaseBlocks(heap, expandable, heap.pools[kDefaultPool].large);
    ReleaseBlocks(heap, expandable, heap.pools[kDefaultPool].small);
  }
  for (size_t i = 1; i < heap.pools.size(); ++i) {
    Heap::Pool& each = heap.pools[i];
    if (!each.releasable) continue;
    if (pool != kDefaultPool) {
      if (i != pool) continue;
      heap.CompletePendingFrees(pool);
    }
    ReleaseBlocks(heap, expandable, each.small);
    ReleaseBlocks(heap, expandable, each.large);
    if (each.device_allocations == 0) each.exists = each.releasable = false;
  }
}

}  // namespace vramscope::allocator
