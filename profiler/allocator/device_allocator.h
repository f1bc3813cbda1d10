// SPDX-License-Identifier: Apache-2.0
// PyTorch's caching allocator for one device, as a pure state machine: a request in, a decision with
// addresses out, no other effects.
//
// Why: replay uses it to prove that a recording is understood. Fragmentation and autopsy use it to find what
// other settings would have done. Every estimate is a changed stream of requests run through it.
// tests/differential compares it with PyTorch's own compiled allocator, decision by decision. PyTorch:
// DeviceCachingAllocator in c10/cuda/CUDACachingAllocator.cpp, releases 1.13 to 2.15 (release.h).
//
//   Malloc ── round ── search the free list ── split, hand out the low part  device_allocator.cc
//                        │ nothing fits
//                        ├── collect garbage (memory fraction and threshold set)
//                        │                                                   device_allocator_release.cc
//                        ├── a segment from the driver,
//                        │   or pages of an expandable segment               device_allocator_expandable.cc
//                        ├── the pools made for this (use_on_oom), search only
//                        ├── give back oversize blocks of this stream, ask the driver again
//                        └── wait for all pending frees, give back the cache, ask the driver again
//                              └── out of memory
//
// What only the running program knows is an input: the pool of a request, and when a block that another
// stream used becomes free. The state contains no time, no threads and no memory contents. Equal inputs give
// equal decisions. Copies are independent, but share the driver and the listener until they get others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/allocator/block.h"
#include "profiler/allocator/driver.h"
#include "profiler/allocator/free_list.h"
#include "profiler/allocator/history.h"
#include "profiler/allocator/release.h"
#include "profiler/allocator/settings.h"
#include "profiler/allocator/statistics.h"
#include "profiler/model/flat_map.h"

namespace vramscope::allocator {

// Receives every decision when it is made, in the order in which PyTorch records it. Events have no time.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void OnEvent(const Event& event) = 0;
};

// Options of a torch.cuda.MemPool; the pool of a CUDA graph has none of them.
struct PoolOptions {
  bool own_allocator = false;
  bool use_on_oom = false;
  bool no_split = false;
};

// The use of a pool: the capture of a CUDA graph on a stream, or torch.cuda.use_mem_pool.
enum class PoolUse : uint8_t { kGraphCapture, kMemPool };

// Address range of an expandable segment. Its pages may be mapped or not.
struct ExpandableRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  StreamIndex stream = 0;
  PoolIndex pool = kDefaultPool;
  bool large = false;
};

class DeviceAllocator {
 public:
  // `device_bytes` is the memory of the device: the base of memory fractions and of address ranges. `driver`
  // must outlive this object.
  DeviceAllocator(const Release& release, const Settings& settings, uint64_t device_bytes, Driver& driver);

  void SetDriver(Driver& driver) { driver_ = &driver; }
  void SetListener(Listener* listener) { listener_ = listener; }
  void SetSettings(const Settings& settings) { settings_ = settings; }
  void ResetStatistics() { statistics_.Reset(); }
  // torch.cuda.set_per_process_memory_fraction.
  void SetMemoryFraction(double fraction);

  // Streams and pools are numbered in the order of these calls. Number 0, the default, always exists.
  StreamIndex AddStream(uint64_t handle);
  PoolIndex AddPool();

  // `bytes` must not be 0. Returns the address, or nothing if out of memory.
  std::optional<uint64_t> Malloc(uint64_t bytes, StreamIndex stream, PoolIndex pool = kDefaultPool);
  // Frees the allocated block at `address`. Returns false and does nothing if there is none.
  bool Free(uint64_t address);
  // Like Free, for a block that another stream may still use. It becomes free by CompleteFree, or when a
  // failing request or an emptied cache waits for all streams. (record_stream itself has no effect on the
  // allocator before this call.)
  bool FreeLater(uint64_t address);
  bool CompleteFree(uint64_t address);
  // torch.cuda.empty_cache(). With a pool: what the end of a torch.cuda.MemPool does to that pool.
  void EmptyCache(PoolIndex pool = kDefaultPool);

  // Lifetime of private pools. RetainPool is what creating a torch.cuda.MemPool does. BeginPool retains as
  // well. Every retain needs a release.
  void RetainPool(PoolIndex pool, const PoolOptions& options = {});
  void BeginPool(PoolIndex pool, PoolUse use);
  void EndPool(PoolIndex pool);
  void ReleasePool(PoolIndex pool);
  // For histories that do not record these calls: from now on the cache of the pool may be given back.
  void MakePoolReleasable(PoolIndex pool);

  // Puts a segment of a recording into an empty place; its blocks must fill it. Expandable memory is added as
  // a whole range, with the mapped runs in order of address. Call before the first request; the listener gets
  // no event.
  void Adopt(const SegmentState& segment);
  void AdoptExpandable(const ExpandableRange& range, const std::vector<const SegmentState*>& mapped);

  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const Release& release() const { return *release_; }
  [[nodiscard]] uint64_t device_bytes() const { return device_bytes_; }
  // The segments as torch.cuda.memory_snapshot() would list them. O(blocks).
  [[nodiscard]] std::vector<SegmentState> Segments() const;
  // The allocated or pending block at `address`; nullptr if there is none.
  [[nodiscard]] const Block* Find(uint64_t address) const;
  [[nodiscard]] uint64_t pending_frees() const { return pending_frees_; }
  // True during a capture: PyTorch neither queries nor waits for other streams, and postpones the frees of
  // blocks that they used.
  [[nodiscard]] bool DefersFrees() const;
  // The block size for a request of `bytes`.
  [[nodiscard]] uint64_t RoundedSize(uint64_t bytes) const;
  // The size of the segment requested from the driver for this rounded size if nothing cached fits.
  [[nodiscard]] uint64_t SegmentBytes(uint64_t rounded_bytes) const;

 private:
  struct BlockPool {
    std::vector<FreeList> free;         // by stream
    std::vector<BlockNumber> unmapped;  // ordered by address
    int64_t searches = 0;               // counted while garbage collection is on
    PoolIndex owner = kDefaultPool;
    bool small = false;
  };
  struct Pool {
    BlockPool small;
    BlockPool large;
    PoolOptions options;
    int64_t device_allocations = 0;
    int uses = 0;
    bool exists = false;
    bool releasable = false;
  };
  struct ExpandableSegment {
    uint64_t address = 0;
    uint64_t bytes = 0;  // 0 = released
    uint64_t page_bytes = 0;
  };
  struct Request {
    uint64_t bytes;  // rounded
    uint64_t segment_bytes;
    StreamIndex stream;
    BlockPool* pool;
    bool expandable;
  };
  struct Underway {
    PoolIndex pool;
    PoolUse use;
  };

  BlockPool& PoolFor(PoolIndex pool, bool small) { return small ? pools_[pool].small : pools_[pool].large; }
  BlockPool& PoolOf(const Block& block) { return PoolFor(block.pool, block.small); }
  FreeList& FreeListOf(const Block& block) { return FreeListFor(PoolOf(block), block.stream); }
  static FreeList& FreeListFor(BlockPool& pool, StreamIndex stream);
  [[nodiscard]] bool UsesExpandable(PoolIndex pool) const;
  [[nodiscard]] bool CountsAges() const;
  [[nodiscard]] uint64_t PageBytes(bool small) const;

  // The stages of a request. Each returns kNoBlock if it finds nothing. The returned block is in no free
  // list.
  BlockNumber TakeFree(const Request& request);
  BlockNumber Grow(Request* request, bool* rejected);
  BlockNumber AllocateBlock(const Request& request, bool retry, bool* rejected);
  BlockNumber AllocateSegment(const Request& request);
  BlockNumber AllocateExpandable(const Request& request);
  BlockNumber TakeFromFallbackPools(Request* request);
  bool OverLimit(const Request& request) const;
  bool OverConfiguredFraction(const Request& request) const;
  bool ShouldSplit(const Block& block, const Request& request) const;
  uint64_t HandOut(BlockNumber number, const Request& request, uint64_t requested_bytes);
  BlockNumber SplitOff(BlockNumber number, uint64_t bytes);

  // Expandable segments.
  BlockNumber FindExpandable(const Request& request);
  BlockNumber ReserveSegment(const Request& request);
  bool HasRoom(BlockNumber first, uint64_t bytes) const;
  bool MapBlock(BlockNumber number, uint64_t bytes);
  void UnmapBlock(BlockNumber number);
  void ReleaseExpandable(BlockNumber number);
  void InsertUnmapped(BlockNumber number);
  void EraseUnmapped(BlockNumber number);

  // Giving back.
  void CollectGarbage();
  size_t CollectOlderThan(double age, uint64_t* reclaimed, int64_t* total_age);
  bool ReleaseAvailable(const Request& request);
  void ReleaseCached(PoolIndex pool);
  void ReleaseBlocks(BlockPool& pool);
  void ReleaseBlock(BlockNumber number);
  // All pending frees, or those of one private pool.
  void CompletePendingFrees(std::optional<PoolIndex> pool);
  int64_t Age(const Block& block) const;

  BlockNumber AdoptBlock(const Block& like, const BlockState& state, BlockNumber previous);
  void AdoptFreeBlocks(BlockNumber first);

  BlockNumber StartFree(uint64_t address);
  void FreeBlock(BlockNumber number);
  uint64_t TryMerge(BlockNumber into, BlockNumber from);
  void InsertFree(BlockNumber number);
  void EraseFree(const Block& block);
  void CountSplitFree(const Block& block, int64_t blocks, int64_t bytes);

  PoolStatistics& StatisticsOf(bool small) { return small ? statistics_.small_pool : statistics_.large_pool; }
  void Reserve(bool small, uint64_t bytes);
  void Unreserve(bool small, uint64_t bytes);
  void Tell(Action action, uint64_t address, uint64_t bytes, StreamIndex stream, PoolIndex pool);
  std::vector<StreamIndex> StreamsByHandle() const;

  const Release* release_;
  Settings settings_;
  uint64_t device_bytes_;
  Driver* driver_;
  Listener* listener_ = nullptr;

  uint64_t reserved_bytes_ = 0;
  std::optional<uint64_t> limit_bytes_;
  BlockTable blocks_;
  model::FlatMap in_use_;  // address -> allocated or pending block
  std::vector<Pool> pools_;
  std::vector<uint64_t> stream_handles_;
  std::vector<ExpandableSegment> expandable_;
  std::vector<Underway> underway_;
  uint32_t registrations_ = 0;
  uint64_t pending_frees_ = 0;
  Statistics statistics_;
};

}  // namespace vramscope::allocator
