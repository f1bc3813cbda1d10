// SPDX-License-Identifier: Apache-2.0
// Gives memory back to the driver: garbage collection, the retries of a failing request, an emptied cache,
// the end of a pool.
#include <algorithm>

#include "profiler/allocator/device_allocator.h"
#include "trace_format/check.h"

namespace vramscope::allocator {

int64_t DeviceAllocator::Age(const Block& block) const {
  const Pool& pool = pools_[block.pool];
  return (block.small ? pool.small : pool.large).searches - block.searches_before;
}

// Frees unused large segments of the default pool, those of average age or older first, until the threshold
// is met.
void DeviceAllocator::CollectGarbage() {
  const auto threshold =
      static_cast<uint64_t>(settings_.garbage_collection_threshold * static_cast<double>(*limit_bytes_));
  if (reserved_bytes_ <= threshold) return;
  const uint64_t target = reserved_bytes_ - threshold;
  uint64_t reclaimed = 0;
  int64_t total_age = 0;
  size_t count = 0;
  for (const FreeList& list : pools_[kDefaultPool].large.free) {
    list.ForEach([&](const FreeList::Entry& entry) {
      if (blocks_[entry.block].split()) return;
      total_age += Age(blocks_[entry.block]);
      ++count;
    });
  }
  for (size_t freed = 1; reclaimed < target && freed > 0 && count > 0; count -= freed) {
    freed =
        CollectOlderThan(static_cast<double>(total_age) / static_cast<double>(count), &reclaimed, &total_age);
  }
}

size_t DeviceAllocator::CollectOlderThan(double age, uint64_t* reclaimed, int64_t* total_age) {
  std::vector<BlockNumber> old;
  for (const StreamIndex stream : StreamsByHandle()) {
    FreeListFor(pools_[kDefaultPool].large, stream).ForEach([&](const FreeList::Entry& entry) {
      const Block& block = blocks_[entry.block];
      if (block.split() || block.is_expandable() || static_cast<double>(Age(block)) < age) return;
      *reclaimed += block.bytes;
      *total_age -= Age(block);
      old.push_back(entry.block);
    });
  }
  for (const BlockNumber number : old) ReleaseBlock(number);
  return old.size();
}

// Gives back oversize blocks of the request's stream: one that is large enough, or the largest ones until
// they suffice together. They stay given back even if that is not enough.
bool DeviceAllocator::ReleaseAvailable(const Request& request) {
  if (settings_.max_split_bytes == kUnlimited) return false;
  const uint64_t wanted = std::max(request.bytes, settings_.max_split_bytes);
  FreeList& list = FreeListFor(*request.pool, request.stream);
  const FreeList::Position fit = list.FirstFit(wanted);
  // PyTorch does not ask for split(): it never splits blocks of this size. A recorded state may hold such
  // blocks from before the setting.
  const auto is_segment = [&](const Block& block) { return !block.is_expandable() && !block.split(); };
  if (fit != list.end() && is_segment(blocks_[list.At(fit).block])) {
    ReleaseBlock(list.At(fit).block);
    return true;
  }
  std::vector<BlockNumber> released;
  uint64_t bytes = 0;
  for (FreeList::Position at = fit; at != list.begin() && bytes < wanted;) {
    at = list.Before(at);
    const Block& block = blocks_[list.At(at).block];
    if (block.bytes < settings_.max_split_bytes) break;
    if (!is_segment(block)) continue;
    bytes += block.bytes;
    released.push_back(list.At(at).block);
  }
  for (const BlockNumber number : released) ReleaseBlock(number);
  return bytes >= wanted;
}

bool DeviceAllocator::DefersFrees() const {
  if (release_->mem_pools_defer) return !underway_.empty();
  const auto captures = [](const Underway& u) { return u.use == PoolUse::kGraphCapture; };
  return std::any_of(underway_.begin(), underway_.end(), captures);
}

void DeviceAllocator::EmptyCache(PoolIndex pool) { ReleaseCached(pool); }

void DeviceAllocator::ReleaseCached(PoolIndex pool) {
  if (pool == kDefaultPool && !DefersFrees()) {
    CompletePendingFrees(std::nullopt);
    ReleaseBlocks(pools_[kDefaultPool].large);
    ReleaseBlocks(pools_[kDefaultPool].small);
  }
  for (size_t i = 1; i < pools_.size(); ++i) {
    Pool& each = pools_[i];
    if (!each.releasable) continue;
    if (pool != kDefaultPool) {
      if (i != pool) continue;
      CompletePendingFrees(pool);
    }
    ReleaseBlocks(each.small);
    ReleaseBlocks(each.large);
    if (each.device_allocations == 0) each.exists = each.releasable = false;
  }
}

void DeviceAllocator::ReleaseBlocks(BlockPool& pool) {
  std::vector<BlockNumber> whole, expandable;
  for (const StreamIndex stream : StreamsByHandle()) {
    if (stream >= pool.free.size()) continue;
    pool.free[stream].ForEach([&](const FreeList::Entry& entry) {
      const Block& block = blocks_[entry.block];
      if (block.is_expandable()) {
        expandable.push_back(entry.block);
      } else if (!block.split()) {
        whole.push_back(entry.block);
      }
    });
  }
  for (const BlockNumber number : whole) ReleaseBlock(number);
  for (const BlockNumber number : expandable) {
    UnmapBlock(number);
    if (!blocks_[number].split() && !blocks_[number].mapped()) ReleaseExpandable(number);
  }
}

// Releases a segment that is one free block.
void DeviceAllocator::ReleaseBlock(BlockNumber number) {
  const Block block = blocks_[number];
  VRAMSCOPE_CHECK(!block.split() && !block.is_expandable());
  ++statistics_.num_device_free;
  Tell(Action::kSegmentFree, block.address, block.bytes, block.stream, block.pool);
  driver_->FreeSegment(block.address, block.bytes);
  if (block.pool != kDefaultPool) --pools_[block.pool].device_allocations;
  Unreserve(block.small, block.bytes);
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(block.small)}) of->segment.Subtract(1);
  if (block.bytes >= settings_.max_split_bytes) statistics_.oversize_segments.Subtract(1);
  EraseFree(block);
  blocks_.Delete(number);
}

void DeviceAllocator::CompletePendingFrees(std::optional<PoolIndex> pool) {
  ++statistics_.num_sync_all_streams;
  for (size_t i = 0; pending_frees_ > 0 && i < blocks_.places().size(); ++i) {
    const Block& block = blocks_.places()[i];
    if (block.status != BlockStatus::kPendingFree || block.bytes == 0) continue;
    if (pool.has_value() && block.pool != *pool) continue;
    --pending_frees_;
    FreeBlock(static_cast<BlockNumber>(i));
  }
}

void DeviceAllocator::RetainPool(PoolIndex number, const PoolOptions& options) {
  Pool& pool = pools_[number];
  if (!pool.exists) {
    pool.exists = true;
    pool.options = options;
    pool.uses = 0;
    pool.device_allocations = 0;
  }
  ++pool.uses;
}

void DeviceAllocator::BeginPool(PoolIndex pool, PoolUse use) {
  RetainPool(pool);
  underway_.push_back({pool, use});
}

void DeviceAllocator::EndPool(PoolIndex pool) {
  const auto found =
      std::find_if(underway_.begin(), underway_.end(), [&](const Underway& u) { return u.pool == pool; });
  if (found != underway_.end()) underway_.erase(found);
}

void DeviceAllocator::ReleasePool(PoolIndex pool) {
  if (pools_[pool].uses == 0 || --pools_[pool].uses > 0) return;
  pools_[pool].releasable = true;
  pools_[pool].options.use_on_oom = false;  // no request may fall back on a pool whose owner is gone
}

void DeviceAllocator::MakePoolReleasable(PoolIndex pool) {
  pools_[pool].exists = true;
  pools_[pool].uses = 0;
  pools_[pool].releasable = true;
}

std::vector<StreamIndex> DeviceAllocator::StreamsByHandle() const {
  std::vector<StreamIndex> order(stream_handles_.size());
  for (StreamIndex i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](StreamIndex a, StreamIndex b) { return stream_handles_[a] < stream_handles_[b]; });
  return order;
}

}  // namespace vramscope::allocator
