// SPDX-License-Identifier: Apache-2.0
// The state of PyTorch's caching allocator for one device: its blocks, free lists, pools and statistics.
//
//   pools   0 (default)                          1 (of a CUDA graph)
//           small: stream 0, stream 7, ...       small: ...
//           large: stream 0 ─ FreeList ──┐       large: ...
//   blocks  [ 2 MiB free ]◄──────────────┘  ◄─ previous / next ─►  [ 8 MiB allocated ]◄── in_use, by address
//
// All members are public, because other files of this folder implement the allocator's rules.
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

// Receives the allocator's events in PyTorch's order, each at the moment when the allocator decides it.
// Event::time_ns is 0.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void OnEvent(const Event& event) = 0;
  // Called after a request that ran out of memory has searched this pool (PoolOptions::use_on_oom). In
  // PyTorch, the end of the search can complete deferred frees.
  virtual void OnFallbackLeft(PoolIndex) {}
};

// Options of a torch.cuda.MemPool. The pool of a CUDA graph has no options: all fields are false.
struct PoolOptions {
  bool own_allocator = false;
  bool use_on_oom = false;
  bool no_split = false;
};

enum class PoolUse : uint8_t { kGraphCapture, kMemPool };

struct Heap {
  struct BlockPool {
    std::vector<FreeList> free;         // index: StreamIndex
    std::vector<BlockNumber> unmapped;  // unmapped blocks of expandable segments, ordered by address
    int64_t searches = 0;               // number of searches while garbage collection is on
    PoolIndex owner = kDefaultPool;     // the pool that contains this block pool
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
  struct Request {
    uint64_t bytes;          // rounded
    uint64_t segment_bytes;  // size of a new segment for this request
    StreamIndex stream;
    BlockPool* pool;
    bool expandable;
  };
  struct Underway {
    PoolIndex pool;
    PoolUse use;
  };

  BlockPool& PoolFor(PoolIndex pool, bool small) { return small ? pools[pool].small : pools[pool].large; }
  BlockPool& PoolOf(const Block& block) { return PoolFor(block.pool, block.small); }
  FreeList& FreeListOf(const Block& block) { return FreeListFor(PoolOf(block), block.stream); }
  static FreeList& FreeListFor(BlockPool& pool, StreamIndex stream);
  [[nodiscard]] std::vector<StreamIndex> StreamsByHandle() const;

  // Splits a block that is in no list. Returns the lower part, which has `bytes` bytes. The upper part
  // becomes a free block.
  BlockNumber SplitOff(BlockNumber number, uint64_t bytes);
  // Frees a block that is no longer in use and merges it with its free neighbors.
  void FreeBlock(BlockNumber number);
  // Completes the pending frees of one private pool; std::nullopt = of all pools.
  void CompletePendingFrees(std::optional<PoolIndex> pool);
  // True if frees that wait for other streams stay pending, because a CUDA graph is being captured. In
  // releases with Release::mem_pools_defer, also while a torch.cuda.MemPool is in use.
  [[nodiscard]] bool DefersFrees() const;
  // Merges the neighbor `from` into the block `into`, which is in no list. Both must be mapped, or both
  // unmapped, and `from` must not be in use. Returns the bytes of `from`; 0 if they were not merged.
  uint64_t TryMerge(BlockNumber into, BlockNumber from);
  void InsertFree(BlockNumber number);
  void EraseFree(const Block& block);
  // Add to and remove from BlockPool::unmapped.
  void InsertUnmapped(BlockNumber number);
  void EraseUnmapped(BlockNumber number);

  // True if garbage collection is on: blocks then need an age (BlockPool::searches).
  [[nodiscard]] bool CountsAges() const;
  PoolStatistics& StatisticsOf(bool small) { return small ? statistics.small_pool : statistics.large_pool; }
  // Updates the statistics about inactive split blocks (free blocks that are a part of a segment). Like
  // PyTorch, ignores blocks of expandable segments.
  void CountSplitFree(const Block& block, int64_t count, int64_t bytes);
  // Add to and subtract from the reserved bytes and their statistics.
  void Reserve(bool small, uint64_t bytes);
  void Unreserve(bool small, uint64_t bytes);
  // Sends an event to the listener.
  void Tell(Action action, uint64_t address, uint64_t bytes, StreamIndex stream, PoolIndex pool);

  const Release* release;
  Settings settings;
  uint64_t device_bytes = 0;
  Driver* driver = nullptr;
  Listener* listener = nullptr;

  uint64_t reserved_bytes = 0;
  std::optional<uint64_t> limit_bytes = {};
  BlockTable blocks = {};
  model::FlatMap in_use = {};  // address -> allocated or pending block
  std::vector<Pool> pools = {};
  std::vector<uint64_t> stream_handles = {0};
  std::vector<Underway> underway = {};
  uint32_t registrations = 0;
  uint64_t pending_frees = 0;
  Statistics statistics = {};
};

}  // namespace vramscope::allocator
