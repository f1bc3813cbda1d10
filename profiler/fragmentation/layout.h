// SPDX-License-Identifier: Apache-2.0
// Where every byte of the caching allocator's memory is at one moment: the segments and the blocks that fill
// them, updated event by event.
//
// Why: all of fragmentation is geometry. No counter contains what is free, how large the free pieces are or
// which blocks lie between them; that follows from addresses. An event changes one block and its two
// neighbors. So one event costs the same in a run with ten blocks and in one with ten thousand, and a copy is
// a checkpoint.
//
//   segment  0x7f.. 20 MiB │ weight 8 MiB │ free 4 MiB │ grad 2 MiB │ free 6 MiB │
//                            ◄── previous ──┘          └── next ──►     merged with its neighbors as in
//                                                                       PyTorch
//
// The layout follows the record, not what an allocator should have done; what contradicts itself is counted
// in `troubles`.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/rules.h"
#include "profiler/model/flat_map.h"

namespace vramscope::fragmentation {

using BlockIndex = uint32_t;
using SegmentIndex = uint32_t;
constexpr uint32_t kNoIndex = 0xffffffff;

// `born` of a block that existed before the history.
constexpr uint32_t kBeforeHistory = 0xffffffff;

struct Block {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t requested_bytes = 0;    // 0 for a free block
  BlockIndex previous = kNoIndex;  // neighbors in the segment, in order of address
  BlockIndex next = kNoIndex;
  SegmentIndex segment = kNoIndex;
  uint32_t born = kBeforeHistory;  // the event that allocated it
  allocator::BlockUse use = allocator::BlockUse::kFree;

  [[nodiscard]] bool free() const { return use == allocator::BlockUse::kFree; }
  [[nodiscard]] uint64_t end() const { return address + bytes; }
};

// One cudaMalloc, or one run of mapped pages.
struct Segment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t page_bytes = 0;  // of expandable memory; 0 = from cudaMalloc, given back as a whole
  BlockIndex first = kNoIndex;
  uint32_t domain = 0;
  uint32_t live_blocks = 0;  // allocated or pending

  [[nodiscard]] bool expandable() const { return page_bytes != 0; }
  [[nodiscard]] uint64_t end() const { return address + bytes; }
};

// Free blocks serve only requests of their own domain. The sums are over all its segments. For example, with
// roundup_power2_divisions:4 a request for 1,300,000 bytes gets a free block of 2 MiB (2,097,152 bytes):
//
//   2,097,152 allocated = 1,300,000 requested + 480 rounding_512 + 10,240 rounding_power2 + 786,432 slack
struct Domain {
  allocator::PoolIndex pool = allocator::kDefaultPool;
  allocator::StreamIndex stream = 0;
  bool large = false;

  uint64_t reserved = 0;
  uint64_t allocated = 0;        // allocated blocks, with rounding and slack
  uint64_t requested = 0;        // requested by the program, for these blocks
  uint64_t rounding_512 = 0;     // of these: rounding to the next multiple of 512
  uint64_t rounding_power2 = 0;  // additional rounding by roundup_power2_divisions
  uint64_t slack = 0;            // in addition: the rest of a free block that was not worth a split
  uint64_t pending = 0;          // freed, but another stream may still use them
  uint64_t pending_requested = 0;
  uint64_t free = 0;
  uint64_t whole = 0;  // part of `free`: completely free segments and pages
};

// Contradictions in the history, counted; none of them stops the walk.
struct Troubles {
  uint64_t outside_segments = 0;  // allocated where there is no segment
  uint64_t overlaps = 0;          // allocated where there is a block; that block is assumed freed
  uint64_t too_small = 0;         // the free space there is smaller than the request
  uint64_t not_at_begin = 0;      // not at the begin of a free block
  uint64_t unknown_frees = 0;     // of a block that is not allocated
  uint64_t segments_in_use = 0;   // given back or unmapped while it has blocks
  uint64_t unknown_segments = 0;  // given back without having been taken
  uint64_t other_end = 0;         // 1: the events lead to other blocks than the history has at its end
  std::optional<uint32_t> first;  // the first event that does not fit

  [[nodiscard]] uint64_t total() const {
    return outside_segments + overlaps + too_small + not_at_begin + unknown_frees + segments_in_use +
           unknown_segments + other_end;
  }
};

class Layout {
 public:
  explicit Layout(const Rules& rules) : rules_(rules) {}

  // Adds a segment with its blocks; gaps between them become free blocks. Segments must not overlap.
  void AddSegment(const allocator::SegmentState& segment);
  // Applies the next event. `index` is its number, stored as `born`.
  void Apply(const allocator::Event& event, uint32_t index);
  // Applies two events in one: a free that completes as soon as it is requested, as most do. Returns false
  // and does nothing if no block is allocated there.
  bool FreeAtOnce(const allocator::Event& requested);

  // Live segments in order of address.
  [[nodiscard]] const std::vector<std::pair<uint64_t, SegmentIndex>>& segments() const { return by_address_; }
  [[nodiscard]] const Segment& segment(SegmentIndex index) const { return segments_[index]; }
  [[nodiscard]] const Block& block(BlockIndex index) const { return blocks_[index]; }
  [[nodiscard]] const std::vector<Domain>& domains() const { return domains_; }
  [[nodiscard]] const Domain& DomainOf(const Segment& segment) const { return domains_[segment.domain]; }
  // The block that begins at `address`; kNoIndex if there is none.
  [[nodiscard]] BlockIndex FindBlock(uint64_t address) const;
  [[nodiscard]] size_t block_count() const { return blocks_.size() - spare_blocks_.size(); }
  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] const Troubles& troubles() const { return troubles_; }
  // For a free block: bytes that the allocator could give back to the driver.
  [[nodiscard]] uint64_t WholeBytes(const Block& block) const {
    const Segment& segment = segments_[block.segment];
    if (segment.expandable()) return WholePages(block, segment);
    return block.bytes == segment.bytes ? block.bytes : 0;
  }

  // All domains added up.
  [[nodiscard]] Domain Total() const;
  // The sums that a walk reads after every event: kept up to date, not added up.
  struct Held {
    uint64_t reserved = 0;
    uint64_t allocated = 0;
    uint64_t requested = 0;
  };
  [[nodiscard]] const Held& held() const { return held_; }

 private:
  void Allocate(const allocator::Event& event, uint32_t index);
  void RequestFree(const allocator::Event& event, uint32_t index);
  void CompleteFree(const allocator::Event& event, uint32_t index);
  void Map(const allocator::Event& event);
  void RemoveRange(uint64_t address, uint64_t bytes, uint32_t index);

  [[nodiscard]] BlockIndex FreeBlockAt(const allocator::Event& event, uint32_t index);
  [[nodiscard]] BlockIndex Free(BlockIndex index);
  BlockIndex SplitFree(BlockIndex index, uint64_t bytes);
  BlockIndex MergeWithNext(BlockIndex index);
  BlockIndex NewBlock(const Block& block);
  void DeleteBlock(BlockIndex index);

  SegmentIndex NewSegment(uint64_t address, uint64_t bytes, uint64_t page_bytes, uint32_t domain);
  void DeleteSegment(SegmentIndex index);
  [[nodiscard]] SegmentIndex SegmentAt(uint64_t address) const;
  SegmentIndex CutSegment(SegmentIndex index, uint64_t at);
  void JoinNextSegment(SegmentIndex index, SegmentIndex next);
  SegmentIndex PlaceSegment(const Segment& segment);
  uint32_t DomainFor(allocator::PoolIndex pool, allocator::StreamIndex stream, bool large);

  static uint64_t WholePages(const Block& block, const Segment& segment);
  // Adds (sign 1) or subtracts (-1) a block in the sums of its domain.
  void Count(const Block& block, int sign);
  // Like Count, for a free block that is cut or merged, which changes only what could be given back.
  void CountWhole(const Block& block, int sign);
  void CountFrom(BlockIndex from, int sign);
  void Trouble(uint64_t Troubles::*kind, uint32_t index);

  Rules rules_;
  std::vector<Block> blocks_;
  std::vector<BlockIndex> spare_blocks_;
  std::vector<Segment> segments_;
  std::vector<SegmentIndex> spare_segments_;
  std::vector<std::pair<uint64_t, SegmentIndex>> by_address_;
  std::vector<Domain> domains_;
  Held held_;
  model::FlatMap begins_;  // address -> BlockIndex, all blocks
  Troubles troubles_;
};

}  // namespace vramscope::fragmentation
