// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/heap.h"

#include <algorithm>

namespace vramscope::allocator {

bool Heap::CountsAges() const { return limit_bytes.has_value() && settings.garbage_collection_threshold > 0; }

FreeList& Heap::FreeListFor(BlockPool& pool, StreamIndex stream) {
  if (stream >= pool.free.size()) pool.free.resize(stream + 1);
  return pool.free[stream];
}

BlockNumber Heap::SplitOff(BlockNumber number, uint64_t bytes) {
  Block low = blocks[number];
  const bool was_split = low.split();
  low.bytes = bytes;
  low.next = number;
  const BlockNumber taken = blocks.Add(low);
  if (low.previous != kNoBlock) blocks[low.previous].next = taken;
  Block& rest = blocks[number];
  rest.previous = taken;
  rest.address += bytes;
  rest.bytes -= bytes;
  InsertFree(number);
  if (was_split) {
    CountSplitFree(rest, 0, -static_cast<int64_t>(bytes));
  } else {
    CountSplitFree(rest, 1, static_cast<int64_t>(rest.bytes));
  }
  return taken;
}

void Heap::FreeBlock(BlockNumber number) {
  Block& block = blocks[number];
  Tell(Action::kFreeCompleted, block.address, block.requested_bytes, block.stream, block.pool);
  in_use.Erase(block.address);
  block.status = BlockStatus::kFree;
  for (PoolStatistics* of : {&statistics.all, &StatisticsOf(block.small)}) {
    of->active.Subtract(1);
    of->active_bytes.Subtract(block.bytes);
    of->requested_bytes.Subtract(block.requested_bytes);
  }
  block.requested_bytes = 0;
  int64_t split_blocks = 0, split_bytes = 0;
  for (const BlockNumber neighbor : {block.previous, block.next}) {
    const uint64_t merged = TryMerge(number, neighbor);
    split_blocks -= merged > 0 ? 1 : 0;
    split_bytes -= static_cast<int64_t>(merged);
  }
  if (block.split()) {
    split_blocks += 1;
    split_bytes += static_cast<int64_t>(block.bytes);
  }
  InsertFree(number);
  CountSplitFree(block, split_blocks, split_bytes);
}

uint64_t Heap::TryMerge(BlockNumber into, BlockNumber from) {
  if (from == kNoBlock) return 0;
  Block& block = blocks[into];
  const Block other = blocks[from];
  if (other.in_use() || other.mapped() != block.mapped()) return 0;
  if (block.previous == from) {
    block.address = other.address;
    block.previous = other.previous;
    if (block.previous != kNoBlock) blocks[block.previous].next = into;
  } else {
    block.next = other.next;
    if (block.next != kNoBlock) blocks[block.next].previous = into;
  }
  block.bytes += other.bytes;
  if (other.mapped()) {
    EraseFree(other);
  } else {
    EraseUnmapped(from);
  }
  blocks.Delete(from);
  return other.bytes;
}

void Heap::InsertFree(BlockNumber number) {
  Block& block = blocks[number];
  BlockPool& pool = PoolOf(block);
  block.status = BlockStatus::kFree;
  block.searches_before = pool.searches;
  FreeListFor(pool, block.stream).Insert({block.bytes, block.address, number, block.registration});
}

void Heap::EraseFree(const Block& block) {
  FreeListOf(block).Erase(block.bytes, block.registration, block.address);
}

void Heap::InsertUnmapped(BlockNumber number) {
  auto& unmapped = PoolOf(blocks[number]).unmapped;
  const auto at =
      std::lower_bound(unmapped.begin(), unmapped.end(), number,
                       [&](BlockNumber a, BlockNumber b) { return blocks[a].address < blocks[b].address; });
  unmapped.insert(at, number);
}

void Heap::EraseUnmapped(BlockNumber number) {
  auto& unmapped = PoolOf(blocks[number]).unmapped;
  unmapped.erase(std::find(unmapped.begin(), unmapped.end(), number));
}

void Heap::CountSplitFree(const Block& block, int64_t count, int64_t bytes) {
  if (block.is_expandable()) return;
  const auto change = [](Counter& counter, int64_t by) {
    if (by >= 0) {
      counter.Add(static_cast<uint64_t>(by));
    } else {
      counter.Subtract(static_cast<uint64_t>(-by));
    }
  };
  for (PoolStatistics* of : {&statistics.all, &StatisticsOf(block.small)}) {
    change(of->inactive_split, count);
    change(of->inactive_split_bytes, bytes);
  }
}

void Heap::Reserve(bool small, uint64_t bytes) {
  reserved_bytes += bytes;
  for (PoolStatistics* of : {&statistics.all, &StatisticsOf(small)}) of->reserved_bytes.Add(bytes);
}

void Heap::Unreserve(bool small, uint64_t bytes) {
  reserved_bytes -= bytes;
  for (PoolStatistics* of : {&statistics.all, &StatisticsOf(small)}) of->reserved_bytes.Subtract(bytes);
}

void Heap::Tell(Action action, uint64_t address, uint64_t bytes, StreamIndex stream, PoolIndex pool) {
  if (listener != nullptr) listener->OnEvent({address, bytes, 0, stream, pool, action});
}

void Heap::CompletePendingFrees(std::optional<PoolIndex> pool) {
  ++statistics.num_sync_all_streams;
  for (size_t i = 0; pending_frees > 0 && i < blocks.places().size(); ++i) {
    const Block& block = blocks.places()[i];
    if (block.status != BlockStatus::kPendingFree || block.bytes == 0) continue;
    if (pool.has_value() && block.pool != *pool) continue;
    --pending_frees;
    FreeBlock(static_cast<BlockNumber>(i));
  }
}

bool Heap::DefersFrees() const {
  if (release->mem_pools_defer) return !underway.empty();
  const auto captures = [](const Underway& u) { return u.use == PoolUse::kGraphCapture; };
  return std::any_of(underway.begin(), underway.end(), captures);
}

std::vector<StreamIndex> Heap::StreamsByHandle() const {
  std::vector<StreamIndex> order(stream_handles.size());
  for (StreamIndex i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](StreamIndex a, StreamIndex b) { return stream_handles[a] < stream_handles[b]; });
  return order;
}

}  // namespace vramscope::allocator
