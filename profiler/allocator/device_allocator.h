// SPDX-License-Identifier: Apache-2.0
// PyTorch's caching allocator for one device, as a pure state machine. Source: DeviceCachingAllocator in
// c10/cuda/CUDACachingAllocator.cpp, releases 1.13 to 2.15 (release.h).
//
//   Malloc ── round ── search the free list ── split, hand out the low part
//                        │ nothing fits
//                        ├── collect garbage (memory fraction and threshold set)    cache_release.cc
//                        ├── a segment from the driver,
//                        │   or pages of an expandable segment                      expandable_segments.cc
//                        ├── search the pools with use_on_oom, without a driver call
//                        ├── give back oversize blocks of this stream, ask the driver again
//                        └── wait for all pending frees, give back the cache, ask the driver again
//                              └── out of memory
//
// The caller decides the pool of a request, and the time at which a block that another stream used becomes
// free. Equal inputs give equal decisions. Copies of a DeviceAllocator share only the driver and the
// listener.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/allocator/cache_release.h"
#include "profiler/allocator/expandable_segments.h"
#include "profiler/allocator/heap.h"
#include "profiler/allocator/history.h"
#include "profiler/allocator/recorded_state.h"
#include "profiler/allocator/release.h"
#include "profiler/allocator/settings.h"
#include "profiler/allocator/statistics.h"

namespace vramscope::allocator {

class DeviceAllocator {
 public:
  // `device_bytes` is the memory of the device. Memory fractions and address ranges are computed from it.
  // `driver` must outlive this object.
  DeviceAllocator(const Release& release, const Settings& settings, uint64_t device_bytes, Driver& driver);

  void SetDriver(Driver& driver) { heap_.driver = &driver; }
  void SetListener(Listener* listener) { heap_.listener = listener; }
  void SetSettings(const Settings& settings) { heap_.settings = settings; }
  void ResetStatistics() { heap_.statistics.Reset(); }
  // torch.cuda.set_per_process_memory_fraction.
  void SetMemoryFraction(double fraction);

  // Streams and pools are numbered in the order of these calls. Number 0, the default, always exists.
  StreamIndex AddStream(uint64_t handle);
  PoolIndex AddPool();

  // Returns the address, or nothing if memory runs out. `bytes` must not be 0.
  std::optional<uint64_t> Malloc(uint64_t bytes, StreamIndex stream, PoolIndex pool = kDefaultPool);
  // Returns false and does nothing if no block is allocated at `address`.
  bool Free(uint64_t address);
  // Like Free, for a block that another stream may still use. The block becomes free in CompleteFree, or when
  // a failing request or EmptyCache waits for all streams.
  bool FreeLater(uint64_t address);
  bool CompleteFree(uint64_t address);
  // torch.cuda.empty_cache(), or the end of a torch.cuda.MemPool.
  void EmptyCache(PoolIndex pool = kDefaultPool) { ReleaseCached(heap_, expandable_, pool); }

  // Lifetime of private pools. Creating a torch.cuda.MemPool calls RetainPool. BeginPool also retains the
  // pool. Every retain needs a ReleasePool.
  void RetainPool(PoolIndex pool, const PoolOptions& options = {});
  void BeginPool(PoolIndex pool, PoolUse use);
  void EndPool(PoolIndex pool);
  void ReleasePool(PoolIndex pool);
  // For histories that do not record the pool calls above. Allows the allocator to give the pool's cached
  // memory back to the driver.
  void MakePoolReleasable(PoolIndex pool);

  // Adds a segment of a recording at its address, which must be unused. The segment's blocks must fill the
  // segment. An expandable segment is added as one address range, with its mapped parts in order of address.
  // Call before the first request.
  void Adopt(const SegmentState& segment) { allocator::Adopt(heap_, segment); }
  void AdoptExpandable(const ExpandableRange& range, const std::vector<const SegmentState*>& mapped) {
    allocator::AdoptExpandable(heap_, expandable_, range, mapped);
  }

  [[nodiscard]] const Statistics& statistics() const { return heap_.statistics; }
  [[nodiscard]] const Settings& settings() const { return heap_.settings; }
  [[nodiscard]] const Release& release() const { return *heap_.release; }
  [[nodiscard]] uint64_t device_bytes() const { return heap_.device_bytes; }
  // The segments in the order of torch.cuda.memory_snapshot(). O(blocks).
  [[nodiscard]] std::vector<SegmentState> Segments() const { return allocator::Segments(heap_); }
  // The allocated or pending block at `address`; nullptr if there is none.
  [[nodiscard]] const Block* Find(uint64_t address) const;
  [[nodiscard]] uint64_t pending_frees() const { return heap_.pending_frees; }
  // True during a CUDA graph capture. PyTorch then does not wait for other streams, and postpones frees of
  // blocks that other streams used.
  [[nodiscard]] bool DefersFrees() const { return heap_.DefersFrees(); }
  [[nodiscard]] uint64_t RoundedSize(uint64_t bytes) const;
  // The size of the cudaMalloc for a request of this rounded size, if no cached block fits.
  [[nodiscard]] uint64_t SegmentBytes(uint64_t rounded_bytes) const;

 private:
  using Request = Heap::Request;

  [[nodiscard]] bool UsesExpandable(PoolIndex pool) const;

  // The stages of a request. Each returns a block that is in no free list, or kNoBlock.
  BlockNumber TakeFree(const Request& request);
  BlockNumber Grow(Request* request, bool* rejected);
  BlockNumber AllocateBlock(const Request& request, bool retry, bool* rejected);
  BlockNumber AllocateSegment(const Request& request);
  BlockNumber TakeFromFallbackPools(Request* request);
  [[nodiscard]] bool OverLimit(const Request& request) const;
  [[nodiscard]] bool OverConfiguredFraction(const Request& request) const;
  [[nodiscard]] bool ShouldSplit(const Block& block, const Request& request) const;
  uint64_t HandOut(BlockNumber number, const Request& request, uint64_t requested_bytes);

  BlockNumber StartFree(uint64_t address);

  Heap heap_;
  ExpandableSegments expandable_;
};

}  // namespace vramscope::allocator
