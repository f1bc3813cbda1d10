// SPDX-License-Identifier: Apache-2.0
// Expandable segments: an address range far larger than its memory, mapped page by page at the lowest
// suitable place.
//
//   range   [ block | free | block |  unmapped ... | free | unmapped ................................ ]
//           pages of 2 MiB (small) or of the large segment's size; only pages that are wholly free are
//           unmapped again
#include <algorithm>
#include <cassert>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/sizing.h"

namespace vramscope::allocator {

uint64_t DeviceAllocator::PageBytes(bool small) const { return allocator::PageBytes(small, settings_); }

BlockNumber DeviceAllocator::AllocateExpandable(const Request& request) {
  BlockNumber number = FindExpandable(request);
  if (number == kNoBlock) return kNoBlock;
  if (!blocks_[number].mapped() && !MapBlock(number, std::min(blocks_[number].bytes, request.bytes)))
    return kNoBlock;
  // A free block, then unmapped addresses: the newly mapped part is merged with the free block. If memory
  // runs out half way, the mapped part stays, as free blocks.
  while (blocks_[number].bytes < request.bytes) {
    const BlockNumber next = blocks_[number].next;
    if (!MapBlock(next, std::min(request.bytes - blocks_[number].bytes, blocks_[next].bytes)))
      return kNoBlock;
    number = next;
  }
  EraseFree(blocks_[number]);
  return number;
}

// The lowest run of free and unmapped blocks with room for the request, or a new range if there is none.
BlockNumber DeviceAllocator::FindExpandable(const Request& request) {
  for (const BlockNumber unmapped : request.pool->unmapped) {
    const Block& block = blocks_[unmapped];
    if (block.stream != request.stream) continue;
    BlockNumber first = unmapped;
    if (block.previous != kNoBlock && !blocks_[block.previous].in_use()) first = block.previous;
    if (HasRoom(first, request.bytes)) return first;
  }
  return ReserveSegment(request);
}

bool DeviceAllocator::HasRoom(BlockNumber first, uint64_t bytes) const {
  uint64_t found = 0;
  for (BlockNumber i = first; found < bytes && i != kNoBlock && !blocks_[i].in_use(); i = blocks_[i].next)
    found += blocks_[i].bytes;
  return found >= bytes;
}

BlockNumber DeviceAllocator::ReserveSegment(const Request& request) {
  const uint64_t page = PageBytes(request.pool->small);
  uint64_t wanted = device_bytes_ + device_bytes_ / 8;
  if (settings_.expandable_reserve.has_value()) {
    const double unit = settings_.expandable_reserve->is_share ? static_cast<double>(device_bytes_)
                                                               : static_cast<double>(kGiB);
    const double asked = settings_.expandable_reserve->value * unit;
    if (asked < static_cast<double>(wanted)) wanted = static_cast<uint64_t>(asked);
  }
  const uint64_t bytes = (wanted + page - 1) / page * page;
  if (bytes < request.bytes) return kNoBlock;  // one allocation cannot span two ranges
  const uint64_t address = driver_->ReserveAddresses(bytes);
  if (address == 0) return kNoBlock;
  Block block;
  block.address = address;
  block.bytes = bytes;
  block.stream = request.stream;
  block.expandable = static_cast<uint32_t>(expandable_.size());
  block.pool = request.pool->owner;
  block.small = request.pool->small;
  block.status = BlockStatus::kUnmapped;
  expandable_.push_back({address, bytes, page});
  const BlockNumber number = blocks_.Add(block);
  InsertUnmapped(number);
  return number;
}

// Maps the pages of the first `bytes` of an unmapped block and puts them in the free list, merged with free
// neighbors.
bool DeviceAllocator::MapBlock(BlockNumber number, uint64_t bytes) {
  const ExpandableSegment& segment = expandable_[blocks_[number].expandable];
  const Block before = blocks_[number];
  const uint64_t mapped = (before.address - segment.address + bytes + segment.page_bytes - 1) /
                              segment.page_bytes * segment.page_bytes -
                          (before.address - segment.address);
  if (!driver_->MapPages(before.address, mapped, segment.page_bytes)) return false;
  EraseUnmapped(number);
  blocks_[number].status = BlockStatus::kFree;
  if (mapped < before.bytes) {
    Block rest = before;
    rest.address += mapped;
    rest.bytes -= mapped;
    rest.previous = number;
    const BlockNumber rest_number = blocks_.Add(rest);
    if (rest.next != kNoBlock) blocks_[rest.next].previous = rest_number;
    blocks_[number].next = rest_number;
    blocks_[number].bytes = mapped;
    InsertUnmapped(rest_number);
  }
  TryMerge(number, blocks_[number].previous);
  TryMerge(number, blocks_[number].next);
  InsertFree(number);
  Reserve(before.small, mapped);
  ++statistics_.num_device_alloc;
  Tell(Action::kSegmentMap, before.address, mapped, before.stream, before.pool);
  return true;
}

// Gives back the pages that lie completely inside a free block.
void DeviceAllocator::UnmapBlock(BlockNumber number) {
  const ExpandableSegment& segment = expandable_[blocks_[number].expandable];
  const Block before = blocks_[number];
  const uint64_t page = segment.page_bytes;
  const uint64_t begin = segment.address + (before.address - segment.address + page - 1) / page * page;
  const uint64_t end = segment.address + (before.address + before.bytes - segment.address) / page * page;
  if (begin >= end) return;
  driver_->UnmapPages(begin, end - begin);
  EraseFree(before);
  const auto add_piece = [&](uint64_t address, uint64_t bytes, BlockNumber previous, BlockNumber next) {
    Block piece = before;
    piece.address = address;
    piece.bytes = bytes;
    piece.previous = previous;
    piece.next = next;
    const BlockNumber added = blocks_.Add(piece);
    if (previous != kNoBlock) blocks_[previous].next = added;
    if (next != kNoBlock) blocks_[next].previous = added;
    InsertFree(added);
  };
  if (before.address < begin) add_piece(before.address, begin - before.address, before.previous, number);
  if (end < before.address + before.bytes)
    add_piece(end, before.address + before.bytes - end, number, before.next);
  Block& block = blocks_[number];
  block.address = begin;
  block.bytes = end - begin;
  block.status = BlockStatus::kUnmapped;
  TryMerge(number, block.previous);
  TryMerge(number, blocks_[number].next);
  InsertUnmapped(number);
  Unreserve(before.small, end - begin);
  if (before.pool != kDefaultPool) --pools_[before.pool].device_allocations;
  ++statistics_.num_device_free;
  Tell(Action::kSegmentUnmap, begin, end - begin, before.stream, before.pool);
}

// Releases a range without any mapped memory.
void DeviceAllocator::ReleaseExpandable(BlockNumber number) {
  const Block block = blocks_[number];
  driver_->ReleaseAddresses(block.address, block.bytes);
  expandable_[block.expandable] = {};
  EraseUnmapped(number);
  blocks_.Delete(number);
}

void DeviceAllocator::InsertUnmapped(BlockNumber number) {
  auto& unmapped = PoolOf(blocks_[number]).unmapped;
  const auto at =
      std::lower_bound(unmapped.begin(), unmapped.end(), number,
                       [&](BlockNumber a, BlockNumber b) { return blocks_[a].address < blocks_[b].address; });
  unmapped.insert(at, number);
}

void DeviceAllocator::EraseUnmapped(BlockNumber number) {
  auto& unmapped = PoolOf(blocks_[number]).unmapped;
  unmapped.erase(std::find(unmapped.begin(), unmapped.end(), number));
}

}  // namespace vramscope::allocator
