// SPDX-License-Identifier: Apache-2.0
// Requests and frees that the cached memory can serve.
#include "profiler/allocator/device_allocator.h"

#include <cassert>

#include "profiler/allocator/sizing.h"

namespace vramscope::allocator {
DeviceAllocator::DeviceAllocator(const Release& release, const Settings& settings, uint64_t device_bytes,
                                 Driver& driver)
    : release_(&release),
      settings_(settings),
      device_bytes_(device_bytes),
      driver_(&driver),
      stream_handles_{0} {
  (void)AddPool();
  pools_.front().exists = true;
  if (settings.per_process_memory_fraction < 1) SetMemoryFraction(settings.per_process_memory_fraction);
}

void DeviceAllocator::SetMemoryFraction(double fraction) {
  limit_bytes_.reset();
  if (fraction < 1 || release_->fraction_always_limits)
    limit_bytes_ = static_cast<uint64_t>(fraction * static_cast<double>(device_bytes_));
}

StreamIndex DeviceAllocator::AddStream(uint64_t handle) {
  stream_handles_.push_back(handle);
  return static_cast<StreamIndex>(stream_handles_.size() - 1);
}

PoolIndex DeviceAllocator::AddPool() {
  const auto number = static_cast<PoolIndex>(pools_.size());
  Pool& pool = pools_.emplace_back();
  pool.small.owner = pool.large.owner = number;
  pool.small.small = true;
  return number;
}

uint64_t DeviceAllocator::RoundedSize(uint64_t bytes) const {
  return allocator::RoundedSize(bytes, settings_, *release_);
}

uint64_t DeviceAllocator::SegmentBytes(uint64_t rounded_bytes) const {
  return allocator::SegmentBytes(rounded_bytes, settings_);
}

bool DeviceAllocator::UsesExpandable(PoolIndex pool) const {
  if (!settings_.expandable_segments || !release_->expandable) return false;
  if (pool == kDefaultPool) return true;
  return release_->expandable_pools &&
         !(release_->own_allocator_excluded && pools_[pool].options.own_allocator);
}

bool DeviceAllocator::CountsAges() const {
  return limit_bytes_.has_value() && settings_.garbage_collection_threshold > 0;
}

FreeList& DeviceAllocator::FreeListFor(BlockPool& pool, StreamIndex stream) {
  if (stream >= pool.free.size()) pool.free.resize(stream + 1);
  return pool.free[stream];
}

std::optional<uint64_t> DeviceAllocator::Malloc(uint64_t bytes, StreamIndex stream, PoolIndex pool) {
  const uint64_t rounded = RoundedSize(bytes);
  Request request{rounded, SegmentBytes(rounded), stream, &PoolFor(pool, rounded <= kSmallRequestBytes),
                  UsesExpandable(pool)};
  BlockNumber number = TakeFree(request);
  bool rejected = false;
  if (number == kNoBlock) number = Grow(&request, &rejected);
  if (number != kNoBlock) return HandOut(number, request, bytes);
  if (rejected) {
    ++statistics_.num_oom_rejections;
  } else {
    ++statistics_.num_ooms;
    Tell(Action::kOutOfMemory, driver_->FreeBytes(), rounded, stream, pool);
  }
  return std::nullopt;
}

BlockNumber DeviceAllocator::TakeFree(const Request& request) {
  if (CountsAges()) ++request.pool->searches;
  FreeList& list = FreeListFor(*request.pool, request.stream);
  FreeList::Position at = list.FirstFit(request.bytes);
  if (at == list.end()) return kNoBlock;
  if (blocks_[list.At(at).block].is_expandable()) {
    if (request.expandable) {
      // A block before unmapped addresses counts as large as it can become, so that requests do not use the
      // growing tail.
      const auto reach = [&](FreeList::Position position) {
        const Block& block = blocks_[list.At(position).block];
        const bool grows = block.next != kNoBlock && !blocks_[block.next].mapped();
        return block.bytes + (grows ? blocks_[block.next].bytes : 0);
      };
      for (auto next = list.After(at);
           blocks_[list.At(at).block].is_expandable() && next != list.end() && reach(next) < reach(at);
           next = list.After(next)) {
        at = next;
      }
    } else {  // switched off in the middle of a run: existing segments are left alone
      do {
        at = list.After(at);
      } while (at != list.end() && blocks_[list.At(at).block].is_expandable());
      if (at == list.end()) return kNoBlock;
    }
  }
  const FreeList::Entry found = list.At(at);
  const bool oversize_request = request.bytes >= settings_.max_split_bytes;
  if (!oversize_request && found.bytes >= settings_.max_split_bytes) return kNoBlock;
  if (oversize_request && found.bytes >= request.bytes + settings_.max_non_split_rounding_bytes)
    return kNoBlock;
  list.Erase(at);
  return found.block;
}

BlockNumber DeviceAllocator::Grow(Request* request, bool* rejected) {
  if (CountsAges()) CollectGarbage();
  BlockNumber number = AllocateBlock(*request, false, rejected);
  const auto failed = [&] { return number == kNoBlock && !*rejected; };
  if (failed() && release_->pool_fallback) number = TakeFromFallbackPools(request);
  if (failed() && ReleaseAvailable(*request)) number = AllocateBlock(*request, false, rejected);
  if (failed() && !DefersFrees()) {
    ReleaseCached(kDefaultPool);
    // PyTorch does not search again for what the wait has freed (#189504); it only asks the driver.
    number = AllocateBlock(*request, true, rejected);
  }
  return number;
}

bool DeviceAllocator::OverLimit(const Request& request) const {
  return limit_bytes_.has_value() && reserved_bytes_ + request.segment_bytes > *limit_bytes_;
}

// The fraction of the settings; one that the program set does not count here.
bool DeviceAllocator::OverConfiguredFraction(const Request& request) const {
  const double fraction = settings_.per_process_memory_fraction;
  return reserved_bytes_ + request.segment_bytes >
         static_cast<uint64_t>(fraction * static_cast<double>(device_bytes_));
}

BlockNumber DeviceAllocator::AllocateBlock(const Request& request, bool retry, bool* rejected) {
  if (retry) ++statistics_.num_alloc_retries;
  if (OverLimit(request)) return kNoBlock;
  *rejected = settings_.throw_on_cudamalloc_oom && OverConfiguredFraction(request);
  if (*rejected) return kNoBlock;
  const BlockNumber number = request.expandable ? AllocateExpandable(request) : AllocateSegment(request);
  if (number != kNoBlock && request.pool->owner != kDefaultPool)
    ++pools_[request.pool->owner].device_allocations;
  return number;
}

BlockNumber DeviceAllocator::AllocateSegment(const Request& request) {
  const uint64_t address = driver_->AllocateSegment(request.segment_bytes);
  if (address == 0) return kNoBlock;
  const bool small = request.pool->small;
  Reserve(small, request.segment_bytes);
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(small)}) of->segment.Add(1);
  if (request.segment_bytes >= settings_.max_split_bytes) statistics_.oversize_segments.Add(1);
  ++statistics_.num_device_alloc;
  Tell(Action::kSegmentAlloc, address, request.segment_bytes, request.stream, request.pool->owner);
  Block block;
  block.address = address;
  block.bytes = request.segment_bytes;
  block.stream = request.stream;
  block.pool = request.pool->owner;
  block.small = small;
  if (release_->prefers_older_segments) block.registration = ++registrations_;
  return blocks_.Add(block);
}

// Searches the pools created for this purpose, and never grows them. If there are several, PyTorch uses the
// order of a hash table; here the oldest comes first.
BlockNumber DeviceAllocator::TakeFromFallbackPools(Request* request) {
  if (request->pool->owner != kDefaultPool) return kNoBlock;
  for (size_t i = 1; i < pools_.size(); ++i) {
    if (!pools_[i].exists || !pools_[i].options.use_on_oom) continue;
    Request other = *request;
    other.pool = &PoolFor(static_cast<PoolIndex>(i), request->pool->small);
    other.expandable = false;
    const BlockNumber number = TakeFree(other);
    if (number == kNoBlock) continue;
    *request = other;
    return number;
  }
  return kNoBlock;
}

bool DeviceAllocator::ShouldSplit(const Block& block, const Request& request) const {
  if (pools_[block.pool].options.no_split) return false;
  return IsSplit(block.bytes, request.bytes, block.small, request.expandable, settings_);
}

// Keeps the low `bytes` of a block that is in no list; the rest becomes its free neighbor.
BlockNumber DeviceAllocator::SplitOff(BlockNumber number, uint64_t bytes) {
  Block low = blocks_[number];
  const bool was_split = low.split();
  low.bytes = bytes;
  low.next = number;
  const BlockNumber taken = blocks_.Add(low);
  if (low.previous != kNoBlock) blocks_[low.previous].next = taken;
  Block& rest = blocks_[number];
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

uint64_t DeviceAllocator::HandOut(BlockNumber number, const Request& request, uint64_t requested_bytes) {
  if (ShouldSplit(blocks_[number], request)) {
    number = SplitOff(number, request.bytes);
  } else if (blocks_[number].split()) {
    CountSplitFree(blocks_[number], -1, -static_cast<int64_t>(blocks_[number].bytes));
  }
  Block& block = blocks_[number];
  block.status = BlockStatus::kAllocated;
  block.requested_bytes = requested_bytes;
  Tell(Action::kAlloc, block.address, requested_bytes, block.stream, block.pool);
  in_use_.Insert(block.address, number);
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(block.small)}) {
    of->allocation.Add(1);
    of->allocated_bytes.Add(block.bytes);
    of->active.Add(1);
    of->active_bytes.Add(block.bytes);
    of->requested_bytes.Add(requested_bytes);
  }
  if (block.bytes >= settings_.max_split_bytes) statistics_.oversize_allocations.Add(1);
  return block.address;
}

BlockNumber DeviceAllocator::StartFree(uint64_t address) {
  const uint32_t* const found = in_use_.Find(address);
  if (found == nullptr || blocks_[*found].status != BlockStatus::kAllocated) return kNoBlock;
  Block& block = blocks_[*found];
  block.status = BlockStatus::kPendingFree;
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(block.small)}) {
    of->allocation.Subtract(1);
    of->allocated_bytes.Subtract(block.bytes);
  }
  Tell(Action::kFreeRequested, block.address, block.requested_bytes, block.stream, block.pool);
  if (block.bytes >= settings_.max_split_bytes) statistics_.oversize_allocations.Subtract(1);
  return *found;
}

bool DeviceAllocator::Free(uint64_t address) {
  const BlockNumber number = StartFree(address);
  if (number == kNoBlock) return false;
  FreeBlock(number);
  return true;
}

bool DeviceAllocator::FreeLater(uint64_t address) {
  if (StartFree(address) == kNoBlock) return false;
  ++pending_frees_;
  return true;
}

bool DeviceAllocator::CompleteFree(uint64_t address) {
  const uint32_t* const found = in_use_.Find(address);
  if (found == nullptr || blocks_[*found].status != BlockStatus::kPendingFree) return false;
  --pending_frees_;
  FreeBlock(*found);
  return true;
}

void DeviceAllocator::FreeBlock(BlockNumber number) {
  Block& block = blocks_[number];
  Tell(Action::kFreeCompleted, block.address, block.requested_bytes, block.stream, block.pool);
  in_use_.Erase(block.address);
  block.status = BlockStatus::kFree;
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(block.small)}) {
    of->active.Subtract(1);
    of->active_bytes.Subtract(block.bytes);
    of->requested_bytes.Subtract(block.requested_bytes);
  }
  block.requested_bytes = 0;
  int64_t blocks = 0, bytes = 0;
  for (const BlockNumber neighbor : {block.previous, block.next}) {
    const uint64_t merged = TryMerge(number, neighbor);
    blocks -= merged > 0 ? 1 : 0;
    bytes -= static_cast<int64_t>(merged);
  }
  if (block.split()) {
    blocks += 1;
    bytes += static_cast<int64_t>(block.bytes);
  }
  InsertFree(number);
  CountSplitFree(block, blocks, bytes);
}

// Merges a free or unmapped neighbor of the same kind into a block that is in no list. Returns the neighbor's
// bytes, or 0 if it cannot be merged.
uint64_t DeviceAllocator::TryMerge(BlockNumber into, BlockNumber from) {
  if (from == kNoBlock) return 0;
  Block& block = blocks_[into];
  const Block other = blocks_[from];
  if (other.in_use() || other.mapped() != block.mapped()) return 0;
  if (block.previous == from) {
    block.address = other.address;
    block.previous = other.previous;
    if (block.previous != kNoBlock) blocks_[block.previous].next = into;
  } else {
    block.next = other.next;
    if (block.next != kNoBlock) blocks_[block.next].previous = into;
  }
  block.bytes += other.bytes;
  if (other.mapped()) {
    EraseFree(other);
  } else {
    EraseUnmapped(from);
  }
  blocks_.Delete(from);
  return other.bytes;
}

void DeviceAllocator::InsertFree(BlockNumber number) {
  Block& block = blocks_[number];
  BlockPool& pool = PoolOf(block);
  block.status = BlockStatus::kFree;
  block.searches_before = pool.searches;
  FreeListFor(pool, block.stream).Insert({block.bytes, block.address, number, block.registration});
}

void DeviceAllocator::EraseFree(const Block& block) {
  FreeListOf(block).Erase(block.bytes, block.registration, block.address);
}

// Counts free blocks with neighbors. Like PyTorch, does not count those of expandable segments.
void DeviceAllocator::CountSplitFree(const Block& block, int64_t blocks, int64_t bytes) {
  if (block.is_expandable()) return;
  const auto change = [](Counter& counter, int64_t by) {
    if (by >= 0) {
      counter.Add(static_cast<uint64_t>(by));
    } else {
      counter.Subtract(static_cast<uint64_t>(-by));
    }
  };
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(block.small)}) {
    change(of->inactive_split, blocks);
    change(of->inactive_split_bytes, bytes);
  }
}

void DeviceAllocator::Reserve(bool small, uint64_t bytes) {
  reserved_bytes_ += bytes;
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(small)}) of->reserved_bytes.Add(bytes);
}

void DeviceAllocator::Unreserve(bool small, uint64_t bytes) {
  reserved_bytes_ -= bytes;
  for (PoolStatistics* of : {&statistics_.all, &StatisticsOf(small)}) of->reserved_bytes.Subtract(bytes);
}

void DeviceAllocator::Tell(Action action, uint64_t address, uint64_t bytes, StreamIndex stream,
                           PoolIndex pool) {
  if (listener_ != nullptr) listener_->OnEvent({address, bytes, 0, stream, pool, action});
}

const Block* DeviceAllocator::Find(uint64_t address) const {
  const uint32_t* const found = in_use_.Find(address);
  return found == nullptr ? nullptr : &blocks_[*found];
}

}  // namespace vramscope::allocator
