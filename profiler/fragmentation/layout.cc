// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/layout.h"

#include <algorithm>
#include <iterator>

#include "trace_format/check.h"

namespace vramscope::fragmentation {

namespace {

using allocator::Action;
using allocator::BlockState;
using allocator::BlockUse;

bool Below(const std::pair<uint64_t, SegmentIndex>& entry, uint64_t address) { return entry.first < address; }

}  // namespace

void Layout::AddSegment(const allocator::SegmentState& state) {
  if (!allocator::IsMemory(state.address, state.bytes)) return;
  RemoveRange(state.address, state.bytes, kNoIndex);
  const uint32_t domain = sums_.DomainFor(state.pool, state.stream, state.large);
  const SegmentIndex index =
      NewSegment(state.address, state.bytes, state.expandable ? rules_.PageBytes(state.large) : 0, domain);
  BlockIndex near = segments_[index].first;  // state.blocks are in order of address
  for (const BlockState& block : state.blocks) {
    if (block.use == BlockUse::kFree || block.bytes == 0) continue;
    if (block.address < state.address || block.address - state.address >= state.bytes) {
      Trouble(&Troubles::outside_segments, kBeforeHistory);
      continue;
    }
    BlockIndex place = block.address < blocks_[near].address ? segments_[index].first : near;
    while (blocks_[place].end() <= block.address) place = blocks_[place].next;
    if (!blocks_[place].free()) {
      Trouble(&Troubles::overlaps, kBeforeHistory);
      continue;
    }
    if (blocks_[place].address < block.address)
      place = SplitFree(place, block.address - blocks_[place].address);
    near = place;
    const uint64_t bytes = std::min(block.bytes, blocks_[place].bytes);
    if (bytes < block.bytes) Trouble(&Troubles::too_small, kBeforeHistory);
    if (bytes < blocks_[place].bytes) SplitFree(place, bytes);
    Block& placed = blocks_[place];
    Count(placed, -1);
    placed.use = block.use;
    placed.requested_bytes = std::min(block.requested_bytes == 0 ? bytes : block.requested_bytes, bytes);
    Count(placed, +1);
    ++segments_[index].live_blocks;
  }
}

void Layout::Apply(const allocator::Event& event, uint32_t index) {
  switch (event.action) {
    case Action::kAlloc:
      return Allocate(event, index);
    case Action::kFreeRequested:
      return RequestFree(event, index);
    case Action::kFreeCompleted:
      return CompleteFree(event, index);
    case Action::kSegmentAlloc:
      if (!allocator::IsMemory(event.address, event.bytes)) return;
      RemoveRange(event.address, event.bytes, kNoIndex);  // old segments whose free was not recorded
      NewSegment(event.address, event.bytes, 0,
                 sums_.DomainFor(event.pool, event.stream, rules_.IsLargeSegment(event.bytes)));
      return;
    case Action::kSegmentMap:
      if (!allocator::IsMemory(event.address, event.bytes)) return;
      return Map(event);
    case Action::kSegmentFree:
    case Action::kSegmentUnmap:
      if (!allocator::IsMemory(event.address, event.bytes)) return;
      return RemoveRange(event.address, event.bytes, index);
    case Action::kSnapshot:
    case Action::kOutOfMemory:
      return;
  }
}

void Layout::Allocate(const allocator::Event& event, uint32_t index) {
  const BlockIndex place = FreeBlockAt(event, index);
  if (place == kNoIndex) return;
  const Segment& segment = segments_[blocks_[place].segment];
  const uint64_t gap = blocks_[place].bytes;
  const uint64_t asked = std::min(event.bytes, gap);
  if (asked < event.bytes) Trouble(&Troubles::too_small, index);
  const uint64_t rounded = rules_.Rounded(asked);
  const uint64_t bytes =
      rules_.BlockBytes(rounded, gap, sums_.domains()[segment.domain].large, segment.expandable());
  if (bytes < gap) SplitFree(place, bytes);
  Block& block = blocks_[place];
  Count(block, -1);
  block.use = BlockUse::kAllocated;
  block.requested_bytes = std::min(asked, bytes);
  block.born = index;
  Count(block, +1);
  ++segments_[block.segment].live_blocks;
}

// The free block that begins at the event's address. If another block is there, it is freed or cut, and
// counted in `troubles`.
BlockIndex Layout::FreeBlockAt(const allocator::Event& event, uint32_t index) {
  const BlockIndex exact = FindBlock(event.address);
  if (exact != kNoIndex && blocks_[exact].free()) return exact;
  const SegmentIndex segment = SegmentAt(event.address);
  if (segment == kNoIndex) {
    Trouble(&Troubles::outside_segments, index);
    return kNoIndex;
  }
  BlockIndex around = segments_[segment].first;
  while (blocks_[around].end() <= event.address) around = blocks_[around].next;
  if (!blocks_[around].free()) {
    Trouble(&Troubles::overlaps, index);
    around = Free(around);
  }
  const uint64_t before = event.address - blocks_[around].address;
  if (before == 0) return around;
  Trouble(&Troubles::not_at_begin, index);  // PyTorch allocates the low end of a free block
  return SplitFree(around, before);
}

void Layout::RequestFree(const allocator::Event& event, uint32_t index) {
  const BlockIndex place = FindBlock(event.address);
  if (place == kNoIndex || blocks_[place].use != BlockUse::kAllocated) {
    return Trouble(&Troubles::unknown_frees, index);
  }
  Count(blocks_[place], -1);
  blocks_[place].use = BlockUse::kPendingFree;
  Count(blocks_[place], +1);
}

void Layout::CompleteFree(const allocator::Event& event, uint32_t index) {
  const BlockIndex place = FindBlock(event.address);
  if (place == kNoIndex || blocks_[place].free()) return Trouble(&Troubles::unknown_frees, index);
  (void)Free(place);
}

bool Layout::FreeAtOnce(const allocator::Event& requested) {
  const BlockIndex place = FindBlock(requested.address);
  if (place == kNoIndex || blocks_[place].use != BlockUse::kAllocated) return false;
  (void)Free(place);
  return true;
}

// Frees a block and merges it with its free neighbors. Returns the merged block.
BlockIndex Layout::Free(BlockIndex index) {
  Block& block = blocks_[index];
  Count(block, -1);
  block.use = BlockUse::kFree;
  block.requested_bytes = 0;
  block.born = kBeforeHistory;
  --segments_[block.segment].live_blocks;
  Count(block, +1);
  if (block.next != kNoIndex && blocks_[block.next].free()) MergeWithNext(index);
  const BlockIndex previous = blocks_[index].previous;
  return previous != kNoIndex && blocks_[previous].free() ? MergeWithNext(previous) : index;
}

// Cuts a free block after `bytes`; returns the new block after the cut.
BlockIndex Layout::SplitFree(BlockIndex index, uint64_t bytes) {
  VRAMSCOPE_CHECK(bytes > 0 && bytes < blocks_[index].bytes);
  const bool pages = segments_[blocks_[index].segment].expandable();
  CountWhole(blocks_[index], -1);
  Block rest = blocks_[index];
  rest.address += bytes;
  rest.bytes -= bytes;
  rest.previous = index;
  const BlockIndex behind = NewBlock(rest);
  Block& block = blocks_[index];
  if (block.next != kNoIndex) blocks_[block.next].previous = behind;
  block.next = behind;
  block.bytes = bytes;
  if (!pages) return behind;  // part of a cudaMalloc segment cannot be given back
  CountWhole(block, +1);
  CountWhole(blocks_[behind], +1);
  return behind;
}

BlockIndex Layout::MergeWithNext(BlockIndex index) {
  Block& block = blocks_[index];
  const BlockIndex gone = block.next;
  if (segments_[block.segment].expandable()) {  // otherwise neither part could be given back
    CountWhole(block, -1);
    CountWhole(blocks_[gone], -1);
  }
  block.bytes += blocks_[gone].bytes;
  block.next = blocks_[gone].next;
  if (block.next != kNoIndex) blocks_[block.next].previous = index;
  CountWhole(block, +1);
  DeleteBlock(gone);
  return index;
}

BlockIndex Layout::NewBlock(const Block& block) {
  BlockIndex index = static_cast<BlockIndex>(blocks_.size());
  if (spare_blocks_.empty()) {
    blocks_.push_back(block);
  } else {
    index = spare_blocks_.back();
    spare_blocks_.pop_back();
    blocks_[index] = block;
  }
  *begins_.Insert(block.address, index).value = index;
  return index;
}

void Layout::DeleteBlock(BlockIndex index) {
  begins_.Erase(blocks_[index].address);
  blocks_[index] = Block{};
  spare_blocks_.push_back(index);
}

BlockIndex Layout::FindBlock(uint64_t address) const {
  if (address == 0) return kNoIndex;
  const uint32_t* found = begins_.Find(address);
  return found == nullptr ? kNoIndex : *found;
}

void Layout::Trouble(uint64_t Troubles::*kind, uint32_t index) {
  ++(troubles_.*kind);
  if (!troubles_.first.has_value()) troubles_.first = index;
}

SegmentIndex Layout::NewSegment(uint64_t address, uint64_t bytes, uint64_t page_bytes, uint32_t domain) {
  Segment segment;
  segment.address = address;
  segment.bytes = bytes;
  segment.page_bytes = page_bytes;
  segment.domain = domain;
  const SegmentIndex index = PlaceSegment(segment);
  sums_.CountReserved(segment, +1);
  Block whole;
  whole.address = address;
  whole.bytes = bytes;
  whole.segment = index;
  const BlockIndex block = NewBlock(whole);
  segments_[index].first = block;
  Count(blocks_[block], +1);
  return index;
}

SegmentIndex Layout::PlaceSegment(const Segment& segment) {
  SegmentIndex index = static_cast<SegmentIndex>(segments_.size());
  if (spare_segments_.empty()) {
    segments_.push_back(segment);
  } else {
    index = spare_segments_.back();
    spare_segments_.pop_back();
    segments_[index] = segment;
  }
  by_address_.insert(std::lower_bound(by_address_.begin(), by_address_.end(), segment.address, Below),
                     {segment.address, index});
  return index;
}

// Deletes the segment with all its blocks.
void Layout::DeleteSegment(SegmentIndex index) {
  Segment& segment = segments_[index];
  for (BlockIndex block = segment.first; block != kNoIndex;) {
    const BlockIndex next = blocks_[block].next;
    Count(blocks_[block], -1);
    DeleteBlock(block);
    block = next;
  }
  sums_.CountReserved(segment, -1);
  by_address_.erase(std::lower_bound(by_address_.begin(), by_address_.end(), segment.address, Below));
  segment = Segment{};
  spare_segments_.push_back(index);
}

// The segment that contains the address.
SegmentIndex Layout::SegmentAt(uint64_t address) const {
  auto after = std::upper_bound(by_address_.begin(), by_address_.end(), address,
                                [](uint64_t wanted, const auto& entry) { return wanted < entry.first; });
  if (after == by_address_.begin()) return kNoIndex;
  const SegmentIndex index = std::prev(after)->second;
  return address < segments_[index].end() ? index : kNoIndex;
}

void Layout::Map(const allocator::Event& event) {
  RemoveRange(event.address, event.bytes, kNoIndex);
  // The small pool maps one page of 2 MiB at a time, the large pool pages of 20 MiB.
  const bool large = event.bytes != kSmallSegmentBytes;
  const uint32_t domain = sums_.DomainFor(event.pool, event.stream, large);
  const SegmentIndex fresh = NewSegment(event.address, event.bytes, rules_.PageBytes(large), domain);
  const auto joins = [&](SegmentIndex other) {
    return other != kNoIndex && segments_[other].expandable() && segments_[other].domain == domain;
  };
  const SegmentIndex behind = SegmentAt(event.address + event.bytes);
  if (joins(behind)) JoinNextSegment(fresh, behind);
  const SegmentIndex before = SegmentAt(event.address - 1);
  if (joins(before)) JoinNextSegment(before, fresh);
}

// Appends the segment `next`, which begins where `index` ends, to the segment `index`.
void Layout::JoinNextSegment(SegmentIndex index, SegmentIndex next) {
  Segment& segment = segments_[index];
  Segment& gone = segments_[next];
  BlockIndex last = segment.first;
  while (blocks_[last].next != kNoIndex) last = blocks_[last].next;
  const BlockIndex seam = gone.first;
  // Both have the same domain. So the sums do not change if the page boundaries stay the same.
  const bool recount = (gone.address - segment.address) % segment.page_bytes != 0;
  if (recount) CountFrom(seam, -1);
  for (BlockIndex block = seam; block != kNoIndex; block = blocks_[block].next)
    blocks_[block].segment = index;
  by_address_.erase(std::lower_bound(by_address_.begin(), by_address_.end(), gone.address, Below));
  segment.bytes += gone.bytes;
  segment.live_blocks += gone.live_blocks;
  if (recount) CountFrom(seam, +1);
  blocks_[last].next = seam;
  blocks_[seam].previous = last;
  gone = Segment{};
  spare_segments_.push_back(next);
  if (blocks_[last].free() && blocks_[seam].free()) MergeWithNext(last);
}

// Adds the blocks from `from` to the end of their segment to the sums, or subtracts them.
void Layout::CountFrom(BlockIndex from, int sign) {
  for (BlockIndex block = from; block != kNoIndex; block = blocks_[block].next) Count(blocks_[block], sign);
}

// Cuts a segment in two at an address inside it; returns the second part. A block across the cut is freed.
SegmentIndex Layout::CutSegment(SegmentIndex index, uint64_t at) {
  BlockIndex block = segments_[index].first;
  while (blocks_[block].end() <= at) block = blocks_[block].next;
  if (blocks_[block].address < at) {
    if (!blocks_[block].free()) block = Free(block);
    if (blocks_[block].address < at) block = SplitFree(block, at - blocks_[block].address);
  }
  Segment rest = segments_[index];
  rest.address = at;
  rest.bytes = segments_[index].end() - at;
  rest.first = block;
  rest.live_blocks = 0;
  CountFrom(block, -1);  // the new segment counts its pages from `at`
  for (BlockIndex moved = block; moved != kNoIndex; moved = blocks_[moved].next) {
    rest.live_blocks += blocks_[moved].free() ? 0 : 1;
  }
  const SegmentIndex behind = PlaceSegment(rest);
  Segment& front = segments_[index];
  front.bytes -= rest.bytes;
  front.live_blocks -= rest.live_blocks;
  blocks_[blocks_[block].previous].next = kNoIndex;
  blocks_[block].previous = kNoIndex;
  for (BlockIndex moved = block; moved != kNoIndex; moved = blocks_[moved].next)
    blocks_[moved].segment = behind;
  CountFrom(block, +1);
  return behind;
}

// Removes the memory in the range: whole cudaMalloc segments, and pages of expandable segments. `index` is
// the event that frees the range, or kNoIndex if nothing should be there.
void Layout::RemoveRange(uint64_t address, uint64_t bytes, uint32_t index) {
  const uint64_t end = address + bytes;
  const bool expected = index != kNoIndex;
  bool found = false;
  while (true) {
    SegmentIndex hit = SegmentAt(address);
    if (hit == kNoIndex) {
      const auto next = std::lower_bound(by_address_.begin(), by_address_.end(), address, Below);
      if (next == by_address_.end() || next->first >= end) break;
      hit = next->second;
    }
    if (segments_[hit].expandable()) {
      if (segments_[hit].address < address) hit = CutSegment(hit, address);
      if (segments_[hit].end() > end) CutSegment(hit, end);
    }
    if (segments_[hit].live_blocks != 0 || !expected) Trouble(&Troubles::segments_in_use, index);
    DeleteSegment(hit);
    found = true;
  }
  if (expected && !found) Trouble(&Troubles::unknown_segments, index);
}

}  // namespace vramscope::fragmentation
