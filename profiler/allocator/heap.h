// SPDX-License-Identifier: Apache-2.0
// The memory of one device as PyTorch's caching allocator sees it: blocks, free lists and statistics.
//
//   pools   0 (default)                          1 (a CUDA graph's)
//           small: stream 0, stream 7, ...       small: ...
//           large: stream 0 ─ FreeList ──┐       large: ...
//   blocks  [ 2 MiB free ]◄──────────────┘  ◄─ previous / next ─►  [ 8 MiB allocated ]◄── in_use, by address
//
// All members are public: the rules of the allocator live in other files.
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

// Receives every decision when it is made, in PyTorch's order. Events have no time.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void OnEvent(const Event& event) = 0;
  // Called after a failing request has searched this pool (PoolOptions::use_on_oom). Leaving the pool can
  // complete deferred frees.
  virtual void OnFallbackLeft(PoolIndex) {}
};

// Options of a torch.cuda.MemPool. The pool of a CUDA graph has none.
struct PoolOptions {
  bool own_allocator = false;
  bool use_on_oom = false;
  bool no_split = false;
};

enum class PoolUse : uint8_t { kGraphCapture, kMemPool };

struct Heap {
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

  BlockPool& PoolFor(PoolIndex pool, bool small) { return small ? pools[pool].small : pools[pool].large; }
  BlockPool& PoolOf(const Block& block) { return PoolFor(block.pool, block.small); }
  FreeList& FreeListOf(const Block& block) { return FreeListFor(PoolOf(block), block.stream); }
  static FreeList& FreeListFor(BlockPool& pool, StreamIndex stream);
  [[nodiscard]] std::vector<StreamIndex> StreamsByHandle() const;

  // Keeps the low `bytes` of a block that is in no list. The rest becomes its free neighbor.
  BlockNumber SplitOff(BlockNumber number, uint64_t bytes);
  // Frees a block that is no longer in use and merges it with its free neighbors.
  void FreeBlock(BlockNumber number);
  // Completes all pending frees, or those of one private pool.
  void CompletePendingFrees(std::optional<PoolIndex> pool);
  // True during a capture: PyTorch does not wait for other streams.
  [[nodiscard]] bool DefersFrees() const;
  // Merges a free or unmapped neighbor of the same kind into a block that is in no list. Returns the
  // neighbor's bytes, or 0.
  uint64_t TryMerge(BlockNumber into, BlockNumber from);
  void InsertFree(BlockNumber number);
  void EraseFree(const Block& block);
  // Unmapped addresses of expandable segments.
  void InsertUnmapped(BlockNumber number);
  void EraseUnmapped(BlockNumber number);

  [[nodiscard]] bool CountsAges() const;
  PoolStatistics& StatisticsOf(bool small) { return small ? statistics.small_pool : statistics.large_pool; }
  // Counts free blocks with neighbors. Like PyTorch, without those in expandable segments.
  void CountSplitFree(const Block& block, int64_t count, int64_t bytes);
  void Reserve(bool small, uint64_t bytes);
  void Unreserve(bool small, uint64_t bytes);
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
