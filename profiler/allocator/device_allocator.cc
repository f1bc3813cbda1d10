// SPDX-License-Identifier: Apache-2.0
// Requests and frees served from cached memory.
#include "profiler/allocator/device_allocator.h"

#include <algorithm>

#include "profiler/allocator/cache_release.h"
#include "profiler/allocator/sizing.h"

namespace vramscope::allocator {

DeviceAllocator::DeviceAllocator(const Release& release, const Settings& settings, uint64_t device_bytes,
                                 Driver& driver)
    : heap_{.release = &release, .settings = settings, .device_bytes = device_bytes, .driver = &driver} {
  (void)AddPool();
  heap_.pools.front().exists = true;
  if (settings.per_process_memory_fraction < 1) SetMemoryFraction(settings.per_process_memory_fraction);
}

void DeviceAllocator::SetMemoryFraction(double fraction) {
  heap_.limit_bytes.reset();
  if (fraction < 1 || heap_.release->fraction_always_limits)
    heap_.limit_bytes = static_cast<uint64_t>(fraction * static_cast<double>(heap_.device_bytes));
}

StreamIndex DeviceAllocator::AddStream(uint64_t handle) {
  heap_.stream_handles.push_back(handle);
  return static_cast<StreamIndex>(heap_.stream_handles.size() - 1);
}

PoolIndex DeviceAllocator::AddPool() {
  const auto number = static_cast<PoolIndex>(heap_.pools.size());
  Heap::Pool& pool = heap_.pools.emplace_back();
  pool.small.owner = pool.large.owner = number;
  pool.small.small = true;
  return number;
}

uint64_t DeviceAllocator::RoundedSize(uint64_t bytes) const {
  return allocator::RoundedSize(bytes, heap_.settings, *heap_.release);
}

uint64_t DeviceAllocator::SegmentBytes(uint64_t rounded_bytes) const {
  return allocator::SegmentBytes(rounded_bytes, heap_.settings);
}

bool DeviceAllocator::UsesExpandable(PoolIndex pool) const {
  if (!heap_.settings.expandable_segments || !heap_.release->expandable) return false;
  if (pool == kDefaultPool) return true;
  return heap_.release->expandable_pools &&
         !(heap_.release->own_allocator_excluded && heap_.pools[pool].options.own_allocator);
}

std::optional<uint64_t> DeviceAllocator::Malloc(uint64_t bytes, StreamIndex stream, PoolIndex pool) {
  const uint64_t rounded = RoundedSize(bytes);
  Request request{rounded, SegmentBytes(rounded), stream, &heap_.PoolFor(pool, rounded <= kSmallRequestBytes),
                  UsesExpandable(pool)};
  BlockNumber number = TakeFree(request);
  bool rejected = false;
  if (number == kNoBlock) number = Grow(&request, &rejected);
  if (number != kNoBlock) return HandOut(number, request, bytes);
  if (rejected) {
    ++heap_.statistics.num_oom_rejections;
  } else {
    ++heap_.statistics.num_ooms;
    heap_.Tell(Action::kOutOfMemory, heap_.driver->FreeBytes(), rounded, stream, pool);
  }
  return std::nullopt;
}

BlockNumber DeviceAllocator::TakeFree(const Request& request) {
  if (heap_.CountsAges()) ++request.pool->searches;
  FreeList& list = heap_.FreeListFor(*request.pool, request.stream);
  FreeList::Position at = list.FirstFit(request.bytes);
  if (at == list.end()) return kNoBlock;
  if (heap_.blocks[list.At(at).block].is_expandable()) {
    if (request.expandable) {
      // A block followed by unmapped addresses counts with the size it can grow to. So requests that fit
      // elsewhere do not use the growing tail.
      const auto reach = [&](FreeList::Position position) {
        const Block& block = heap_.blocks[list.At(position).block];
        const bool grows = block.next != kNoBlock && !heap_.blocks[block.next].mapped();
        return block.bytes + (grows ? heap_.blocks[block.next].bytes : 0);
      };
      for (auto next = list.After(at);
           heap_.blocks[list.At(at).block].is_expandable() && next != list.end() && reach(next) < reach(at);
           next = list.After(next)) {
        at = next;
      }
    } else {  // turned off in the middle of a run: existing expandable segments are not used
      do {
        at = list.After(at);
      } while (at != list.end() && heap_.blocks[list.At(at).block].is_expandable());
      if (at == list.end()) return kNoBlock;
    }
  }
  const FreeList::Entry found = list.At(at);
  const bool oversize_request = request.bytes >= heap_.settings.max_split_bytes;
  if (!oversize_request && found.bytes >= heap_.settings.max_split_bytes) return kNoBlock;
  if (oversize_request && found.bytes >= request.bytes + heap_.settings.max_non_split_rounding_bytes)
    return kNoBlock;
  list.Erase(at);
  return found.block;
}

BlockNumber DeviceAllocator::Grow(Request* request, bool* rejected) {
  if (heap_.CountsAges()) CollectGarbage(heap_);
  BlockNumber number = AllocateBlock(*request, false, rejected);
  const auto failed = [&] { return number == kNoBlock && !*rejected; };
  if (failed() && heap_.release->pool_fallback) number = TakeFromFallbackPools(request);
  if (failed() && ReleaseAvailable(heap_, *request)) number = AllocateBlock(*request, false, rejected);
  if (failed() && !heap_.DefersFrees()) {
    allocator::ReleaseCached(heap_, expandable_, kDefaultPool);
    // After the wait PyTorch does not search the freed blocks (#189504); it only asks the driver.
    number = AllocateBlock(*request, true, rejected);
  }
  return number;
}

bool DeviceAllocator::OverLimit(const Request& request) const {
  return heap_.limit_bytes.has_value() && heap_.reserved_bytes + request.segment_bytes > *heap_.limit_bytes;
}

// Uses the fraction from the settings. A fraction set by the program does not count here.
bool DeviceAllocator::OverConfiguredFraction(const Request& request) const {
  const double fraction = heap_.settings.per_process_memory_fraction;
  return heap_.reserved_bytes + request.segment_bytes >
         static_cast<uint64_t>(fraction * static_cast<double>(heap_.device_bytes));
}

BlockNumber DeviceAllocator::AllocateBlock(const Request& request, bool retry, bool* rejected) {
  if (retry) ++heap_.statistics.num_alloc_retries;
  if (OverLimit(request)) return kNoBlock;
  *rejected = heap_.settings.throw_on_cudamalloc_oom && OverConfiguredFraction(request);
  if (*rejected) return kNoBlock;
  const BlockNumber number =
      request.expandable ? expandable_.Allocate(heap_, request) : AllocateSegment(request);
  if (number != kNoBlock && request.pool->owner != kDefaultPool)
    ++heap_.pools[request.pool->owner].device_allocations;
  return number;
}

BlockNumber DeviceAllocator::AllocateSegment(const Request& request) {
  const uint64_t address = heap_.driver->AllocateSegment(request.segment_bytes);
  if (address == 0) return kNoBlock;
  const bool small = request.pool->small;
  heap_.Reserve(small, request.segment_bytes);
  for (PoolStatistics* of : {&heap_.statistics.all, &heap_.StatisticsOf(small)}) of->segment.Add(1);
  if (request.segment_bytes >= heap_.settings.max_split_bytes) heap_.statistics.oversize_segments.Add(1);
  ++heap_.statistics.num_device_alloc;
  heap_.Tell(Action::kSegmentAlloc, address, request.segment_bytes, request.stream, request.pool->owner);
  Block block;
  block.address = address;
  block.bytes = request.segment_bytes;
  block.stream = request.stream;
  block.pool = request.pool->owner;
  block.small = small;
  if (heap_.release->prefers_older_segments) block.registration = ++heap_.registrations;
  return heap_.blocks.Add(block);
}

// Searches the pools created for this purpose, and never grows them. If there are several, PyTorch uses the
// order of a hash table; here the oldest comes first.
BlockNumber DeviceAllocator::TakeFromFallbackPools(Request* request) {
  if (request->pool->owner != kDefaultPool) return kNoBlock;
  for (size_t i = 1; i < heap_.pools.size(); ++i) {
    if (!heap_.pools[i].exists || !heap_.pools[i].options.use_on_oom) continue;
    Request other = *request;
    other.pool = &heap_.PoolFor(static_cast<PoolIndex>(i), request->pool->small);
    other.expandable = false;
    const BlockNumber number = TakeFree(other);
    // Marked as allocated, so that blocks freed by the listener do not merge with it.
    if (number != kNoBlock) heap_.blocks[number].status = BlockStatus::kAllocated;
    if (heap_.listener != nullptr) heap_.listener->OnFallbackLeft(static_cast<PoolIndex>(i));
    if (number == kNoBlock) continue;
    heap_.blocks[number].status = BlockStatus::kFree;
    *request = other;
    return number;
  }
  return kNoBlock;
}

bool DeviceAllocator::ShouldSplit(const Block& block, const Request& request) const {
  if (heap_.pools[block.pool].options.no_split) return false;
  return IsSplit(block.bytes, request.bytes, block.small, request.expandable, heap_.settings);
}

uint64_t DeviceAllocator::HandOut(BlockNumber number, const Request& request, uint64_t requested_bytes) {
  if (ShouldSplit(heap_.blocks[number], request)) {
    number = heap_.SplitOff(number, request.bytes);
  } else if (heap_.blocks[number].split()) {
    heap_.CountSplitFree(heap_.blocks[number], -1, -static_cast<int64_t>(heap_.blocks[number].bytes));
  }
  Block& block = heap_.blocks[number];
  block.status = BlockStatus::kAllocated;
  block.requested_bytes = requested_bytes;
  heap_.Tell(Action::kAlloc, block.address, requested_bytes, block.stream, block.pool);
  heap_.in_use.Insert(block.address, number);
  for (PoolStatistics* of : {&heap_.statistics.all, &heap_.StatisticsOf(block.small)}) {
    of->allocation.Add(1);
    of->allocated_bytes.Add(block.bytes);
    of->active.Add(1);
    of->active_bytes.Add(block.bytes);
    of->requested_bytes.Add(requested_bytes);
  }
  if (block.bytes >= heap_.settings.max_split_bytes) heap_.statistics.oversize_allocations.Add(1);
  return block.address;
}

BlockNumber DeviceAllocator::StartFree(uint64_t address) {
  const uint32_t* const found = heap_.in_use.Find(address);
  if (found == nullptr || heap_.blocks[*found].status != BlockStatus::kAllocated) return kNoBlock;
  Block& block = heap_.blocks[*found];
  block.status = BlockStatus::kPendingFree;
  for (PoolStatistics* of : {&heap_.statistics.all, &heap_.StatisticsOf(block.small)}) {
    of->allocation.Subtract(1);
    of->allocated_bytes.Subtract(block.bytes);
  }
  heap_.Tell(Action::kFreeRequested, block.address, block.requested_bytes, block.stream, block.pool);
  if (block.bytes >= heap_.settings.max_split_bytes) heap_.statistics.oversize_allocations.Subtract(1);
  return *found;
}

bool DeviceAllocator::Free(uint64_t address) {
  const BlockNumber number = StartFree(address);
  if (number == kNoBlock) return false;
  heap_.FreeBlock(number);
  return true;
}

bool DeviceAllocator::FreeLater(uint64_t address) {
  if (StartFree(address) == kNoBlock) return false;
  ++heap_.pending_frees;
  return true;
}

bool DeviceAllocator::CompleteFree(uint64_t address) {
  const uint32_t* const found = heap_.in_use.Find(address);
  if (found == nullptr || heap_.blocks[*found].status != BlockStatus::kPendingFree) return false;
  --heap_.pending_frees;
  heap_.FreeBlock(*found);
  return true;
}

const Block* DeviceAllocator::Find(uint64_t address) const {
  const uint32_t* const found = heap_.in_use.Find(address);
  return found == nullptr ? nullptr : &heap_.blocks[*found];
}

void DeviceAllocator::RetainPool(PoolIndex number, const PoolOptions& options) {
  Heap::Pool& pool = heap_.pools[number];
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
  heap_.underway.push_back({pool, use});
}

void DeviceAllocator::EndPool(PoolIndex pool) {
  const auto found = std::find_if(heap_.underway.begin(), heap_.underway.end(),
                                  [&](const Heap::Underway& u) { return u.pool == pool; });
  if (found != heap_.underway.end()) heap_.underway.erase(found);
}

void DeviceAllocator::ReleasePool(PoolIndex pool) {
  if (heap_.pools[pool].uses == 0 || --heap_.pools[pool].uses > 0) return;
  heap_.pools[pool].releasable = true;
  heap_.pools[pool].options.use_on_oom = false;  // no request may fall back on a pool whose owner is gone
}

void DeviceAllocator::MakePoolReleasable(PoolIndex pool) {
  heap_.pools[pool].exists = true;
  heap_.pools[pool].uses = 0;
  heap_.pools[pool].releasable = true;
}

}  // namespace vramscope::allocator
