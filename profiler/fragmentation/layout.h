// SPDX-License-Identifier: Apache-2.0
// The layout of the caching allocator's memory at one moment: the segments and the blocks that fill them. An
// event changes one block and its two neighbors.
//
//   segment  0x7f.. 20 MiB │ weight 8 MiB │ free 4 MiB │ grad 2 MiB │ free 6 MiB │
//                            ◄── previous ──┘          └── next ──►     a freed block is merged with free
//                                                                       neighbors, as in PyTorch
//
// The layout follows the recorded events, even where an allocator would have acted differently. Troubles
// counts contradictions between the events.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/domain_sums.h"
#include "profiler/fragmentation/rules.h"
#include "profiler/model/flat_map.h"

namespace vramscope::fragmentation {

// Numbers of contradictions in the history, by kind. A contradiction does not stop the walk.
struct Troubles {
  uint64_t outside_segments = 0;  // an allocation outside all segments
  uint64_t overlaps = 0;          // an allocation inside an allocated block; that block is then freed
  uint64_t too_small = 0;         // an allocation larger than the free space at its address
  uint64_t not_at_begin = 0;      // an allocation inside a free block, but not at its start
  uint64_t unknown_frees = 0;     // a free of a block that is not allocated
  uint64_t segments_in_use = 0;   // a segment freed while it has blocks
  uint64_t unknown_segments = 0;  // a segment freed that was never allocated
  uint64_t other_end = 0;         // 1 if the events lead to other final blocks than the history has
  std::optional<uint32_t> first;  // event index of the first contradiction

  [[nodiscard]] uint64_t total() const {
    return outside_segments + overlaps + too_small + not_at_begin + unknown_frees + segments_in_use +
           unknown_segments + other_end;
  }
};

class Layout {
 public:
  explicit Layout(const Rules& rules) : rules_(rules), sums_(rules) {}

  // Adds a segment with its blocks. Gaps become free blocks. Segments must not overlap.
  void AddSegment(const allocator::SegmentState& segment);
  // Applies the next event. `index`: number of the event, which new blocks store as `born`.
  void Apply(const allocator::Event& event, uint32_t index);
  // Applies a free that completes at once. Returns false, without a change, if no block is allocated at the
  // address.
  bool FreeAtOnce(const allocator::Event& requested);

  // Live segments in order of address.
  [[nodiscard]] const std::vector<std::pair<uint64_t, SegmentIndex>>& segments() const { return by_address_; }
  [[nodiscard]] const Segment& segment(SegmentIndex index) const { return segments_[index]; }
  [[nodiscard]] const Block& block(BlockIndex index) const { return blocks_[index]; }
  // Returns the sums over all domains. held() returns three of these sums without computing them.
  [[nodiscard]] Domain Total() const { return sums_.Total(); }
  [[nodiscard]] const DomainSums::Held& held() const { return sums_.held(); }
  // Returns the bytes of a free block that could be returned to the driver.
  [[nodiscard]] uint64_t WholeBytes(const Block& block) const {
    return fragmentation::WholeBytes(block, segments_[block.segment]);
  }
  [[nodiscard]] const std::vector<Domain>& domains() const { return sums_.domains(); }
  [[nodiscard]] const Domain& DomainOf(const Segment& segment) const { return domains()[segment.domain]; }
  // Returns the block that begins at `address`; kNoIndex if there is none.
  [[nodiscard]] BlockIndex FindBlock(uint64_t address) const;
  [[nodiscard]] size_t block_count() const { return blocks_.size() - spare_blocks_.size(); }
  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] const Troubles& troubles() const { return troubles_; }

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

  void Count(const Block& block, int sign) { sums_.Count(block, segments_[block.segment], sign); }
  void CountWhole(const Block& block, int sign) { sums_.CountWhole(block, segments_[block.segment], sign); }
  void CountFrom(BlockIndex from, int sign);
  void Trouble(uint64_t Troubles::*kind, uint32_t index);

  Rules rules_;
  std::vector<Block> blocks_;
  std::vector<BlockIndex> spare_blocks_;
  std::vector<Segment> segments_;
  std::vector<SegmentIndex> spare_segments_;
  std::vector<std::pair<uint64_t, SegmentIndex>> by_address_;
  DomainSums sums_;
  model::FlatMap begins_;  // address -> BlockIndex, all blocks
  Troubles troubles_;
};

}  // namespace vramscope::fragmentation
