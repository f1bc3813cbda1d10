// SPDX-License-Identifier: Apache-2.0
// The segments of a layout: those of cudaMalloc, which are taken and given back as a whole, and the runs of
// mapped pages, which grow, join and are cut.
#include <algorithm>
#include <iterator>

#include "profiler/fragmentation/layout.h"

namespace vramscope::fragmentation {

namespace {

bool Below(const std::pair<uint64_t, SegmentIndex>& entry, uint64_t address) { return entry.first < address; }

}  // namespace

SegmentIndex Layout::NewSegment(uint64_t address, uint64_t bytes, uint64_t page_bytes, uint32_t domain) {
  Segment segment;
  segment.address = address;
  segment.bytes = bytes;
  segment.page_bytes = page_bytes;
  segment.domain = domain;
  const SegmentIndex index = PlaceSegment(segment);
  domains_[domain].reserved += bytes;
  held_.reserved += bytes;
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
  domains_[segment.domain].reserved -= segment.bytes;
  held_.reserved -= segment.bytes;
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
  const uint32_t domain = DomainFor(event.pool, event.stream, large);
  const SegmentIndex fresh = NewSegment(event.address, event.bytes, rules_.PageBytes(large), domain);
  const auto joins = [&](SegmentIndex other) {
    return other != kNoIndex && segments_[other].expandable() && segments_[other].domain == domain;
  };
  const SegmentIndex behind = SegmentAt(event.address + event.bytes);
  if (joins(behind)) JoinNextSegment(fresh, behind);
  const SegmentIndex before = SegmentAt(event.address - 1);
  if (joins(before)) JoinNextSegment(before, fresh);
}

// `next` begins where `index` ends; its blocks become blocks of `index`.
void Layout::JoinNextSegment(SegmentIndex index, SegmentIndex next) {
  Segment& segment = segments_[index];
  Segment& gone = segments_[next];
  BlockIndex last = segment.first;
  while (blocks_[last].next != kNoIndex) last = blocks_[last].next;
  const BlockIndex seam = gone.first;
  // Both have the same domain, so the sums stay equal if both have the same page boundaries.
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

// Removes the memory in the range: whole segments of cudaMalloc, pages of expandable ones. `index` is the
// event, or kNoIndex if the range should be empty.
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

uint32_t Layout::DomainFor(allocator::PoolIndex pool, allocator::StreamIndex stream, bool large) {
  if (pool == allocator::kUnknownPool) pool = allocator::kDefaultPool;
  for (uint32_t i = 0; i < domains_.size(); ++i) {
    const Domain& domain = domains_[i];
    if (domain.stream == stream && domain.large == large && domain.pool == pool) return i;
  }
  Domain domain;
  domain.pool = pool;
  domain.stream = stream;
  domain.large = large;
  domains_.push_back(domain);
  return static_cast<uint32_t>(domains_.size() - 1);
}

Domain Layout::Total() const {
  Domain total;
  for (const Domain& domain : domains_) {
    total.reserved += domain.reserved;
    total.allocated += domain.allocated;
    total.requested += domain.requested;
    total.rounding_512 += domain.rounding_512;
    total.rounding_power2 += domain.rounding_power2;
    total.slack += domain.slack;
    total.pending += domain.pending;
    total.pending_requested += domain.pending_requested;
    total.free += domain.free;
    total.whole += domain.whole;
  }
  return total;
}

}  // namespace vramscope::fragmentation
