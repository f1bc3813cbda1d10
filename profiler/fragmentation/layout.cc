// SPDX-License-Identifier: Apache-2.0
// The blocks of a layout: how each event changes them and the sums.
#include "profiler/fragmentation/layout.h"

#include <algorithm>

#include "trace_format/check.h"

namespace vramscope::fragmentation {

using allocator::Action;
using allocator::BlockState;
using allocator::BlockUse;

void Layout::AddSegment(const allocator::SegmentState& state) {
  if (!allocator::IsMemory(state.address, state.bytes)) return;
  RemoveRange(state.address, state.bytes, kNoIndex);
  const uint32_t domain = DomainFor(state.pool, state.stream, state.large);
  const SegmentIndex index =
      NewSegment(state.address, state.bytes, state.expandable ? rules_.PageBytes(state.large) : 0, domain);
  BlockIndex near = segments_[index].first;  // blocks come in order of address
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
      RemoveRange(event.address, event.bytes, kNoIndex);  // whose free was not recorded
      NewSegment(event.address, event.bytes, 0,
                 DomainFor(event.pool, event.stream, event.bytes > kSmallSegmentBytes));
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
      rules_.BlockBytes(rounded, gap, domains_[segment.domain].large, segment.expandable());
  if (bytes < gap) SplitFree(place, bytes);
  Block& block = blocks_[place];
  Count(block, -1);
  block.use = BlockUse::kAllocated;
  block.requested_bytes = std::min(asked, bytes);
  block.born = index;
  Count(block, +1);
  ++segments_[block.segment].live_blocks;
}

// The free block that begins at the event's address. If other blocks are in the way, they are changed and
// counted as trouble.
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

// Frees a block and merges it with its free neighbors. Returns the block that has its bytes now.
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
  if (!pages) return behind;  // a part is not a whole segment
  CountWhole(block, +1);
  CountWhole(blocks_[behind], +1);
  return behind;
}

BlockIndex Layout::MergeWithNext(BlockIndex index) {
  Block& block = blocks_[index];
  const BlockIndex gone = block.next;
  if (segments_[block.segment].expandable()) {  // otherwise a part is not a whole segment
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

uint64_t Layout::WholePages(const Block& block, const Segment& segment) {
  // Pages are counted from the segment's begin, which is a page boundary.
  const uint64_t page = segment.page_bytes;
  const uint64_t first = (block.address - segment.address + page - 1) / page;
  const uint64_t last = (block.end() - segment.address) / page;
  return last > first ? (last - first) * page : 0;
}

namespace {

void AddSigned(uint64_t& sum, uint64_t bytes, int sign) { sum += sign > 0 ? bytes : ~bytes + 1; }

}  // namespace

void Layout::CountWhole(const Block& block, int sign) {
  AddSigned(domains_[segments_[block.segment].domain].whole, WholeBytes(block), sign);
}

void Layout::Count(const Block& block, int sign) {
  Domain& domain = domains_[segments_[block.segment].domain];
  const auto add = [sign](uint64_t& sum, uint64_t bytes) { AddSigned(sum, bytes, sign); };
  switch (block.use) {
    case BlockUse::kFree:
      add(domain.free, block.bytes);
      add(domain.whole, WholeBytes(block));
      return;
    case BlockUse::kPendingFree:
      add(domain.pending, block.bytes);
      add(domain.pending_requested, block.requested_bytes);
      return;
    case BlockUse::kAllocated:
      break;
  }
  add(held_.allocated, block.bytes);
  add(held_.requested, block.requested_bytes);
  const uint64_t plain = std::min(allocator::PlainlyRounded(block.requested_bytes), block.bytes);
  const uint64_t rounded = std::min(std::max(rules_.Rounded(block.requested_bytes), plain), block.bytes);
  add(domain.allocated, block.bytes);
  add(domain.requested, block.requested_bytes);
  add(domain.rounding_512, plain - block.requested_bytes);
  add(domain.rounding_power2, rounded - plain);
  add(domain.slack, block.bytes - rounded);
}

void Layout::Trouble(uint64_t Troubles::*kind, uint32_t index) {
  ++(troubles_.*kind);
  if (!troubles_.first.has_value()) troubles_.first = index;
}

}  // namespace vramscope::fragmentation
