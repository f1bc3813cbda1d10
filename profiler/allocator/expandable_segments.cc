// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/expandable_segments.h"

#include <algorithm>

#include "profiler/allocator/sizing.h"

namespace vramscope::allocator {
namespace {

bool HasRoom(const Heap& heap, BlockNumber first, uint64_t bytes) {
  uint64_t found = 0;
  for (BlockNumber i = first; found < bytes && i != kNoBlock && !heap.blocks[i].in_use();
       i = heap.blocks[i].next)
    found += heap.blocks[i].bytes;
  return found >= bytes;
}

}  // namespace

BlockNumber ExpandableSegments::Allocate(Heap& heap, const Heap::Request& request) {
  BlockNumber number = Find(heap, request);
  if (number == kNoBlock) return kNoBlock;
  if (!heap.blocks[number].mapped() && !Map(heap, number, std::min(heap.blocks[number].bytes, request.bytes)))
    return kNoBlock;
  // A free block followed by unmapped addresses: the newly mapped part is merged with the free block. If
  // memory runs out partway, the part mapped so far stays as free blocks.
  while (heap.blocks[number].bytes < request.bytes) {
    const BlockNumber next = heap.blocks[number].next;
    if (!Map(heap, next, std::min(request.bytes - heap.blocks[number].bytes, heap.blocks[next].bytes)))
      return kNoBlock;
    number = next;
  }
  heap.EraseFree(heap.blocks[number]);
  return number;
}

// The lowest run of free and unmapped blocks with room for the request, or a new range if there is none.
BlockNumber ExpandableSegments::Find(Heap& heap, const Heap::Request& request) {
  for (const BlockNumber unmapped : request.pool->unmapped) {
    const Block& block = heap.blocks[unmapped];
    if (block.stream != request.stream) continue;
    BlockNumber first = unmapped;
    if (block.previous != kNoBlock && !heap.blocks[block.previous].in_use()) first = block.previous;
    if (HasRoom(heap, first, request.bytes)) return first;
  }
  return ReserveRange(heap, request);
}

BlockNumber ExpandableSegments::ReserveRange(Heap& heap, const Heap::Request& request) {
  const uint64_t page = PageBytes(request.pool->small, heap.settings);
  uint64_t wanted = heap.device_bytes + heap.device_bytes / 8;
  if (heap.settings.expandable_reserve.has_value()) {
    const double unit = heap.settings.expandable_reserve->is_share ? static_cast<double>(heap.device_bytes)
                                                                   : static_cast<double>(kGiB);
    const double asked = heap.settings.expandable_reserve->value * unit;
    if (asked < static_cast<double>(wanted)) wanted = static_cast<uint64_t>(asked);
  }
  const uint64_t bytes = (wanted + page - 1) / page * page;
  if (bytes < request.bytes) return kNoBlock;  // one allocation cannot span two ranges
  const uint64_t address = heap.driver->ReserveAddresses(bytes);
  if (address == 0) return kNoBlock;
  Block block;
  block.address = address;
  block.bytes = bytes;
  block.stream = request.stream;
  block.expandable = static_cast<uint32_t>(segments_.size());
  block.pool = request.pool->owner;
  block.small = request.pool->small;
  block.status = BlockStatus::kUnmapped;
  segments_.push_back({address, bytes, page});
  const BlockNumber number = heap.blocks.Add(block);
  heap.InsertUnmapped(number);
  return number;
}

bool ExpandableSegments::Map(Heap& heap, BlockNumber number, uint64_t bytes) {
  const Range& segment = segments_[heap.blocks[number].expandable];
  const Block before = heap.blocks[number];
  const uint64_t mapped = (before.address - segment.address + bytes + segment.page_bytes - 1) /
                              segment.page_bytes * segment.page_bytes -
                          (before.address - segment.address);
  if (!heap.driver->MapPages(before.address, mapped, segment.page_bytes)) return false;
  heap.EraseUnmapped(number);
  heap.blocks[number].status = BlockStatus::kFree;
  if (mapped < before.bytes) {
    Block rest = before;
    rest.address += mapped;
    rest.bytes -= mapped;
    rest.previous = number;
    const BlockNumber rest_number = heap.blocks.Add(rest);
    if (rest.next != kNoBlock) heap.blocks[rest.next].previous = rest_number;
    heap.blocks[number].next = rest_number;
    heap.blocks[number].bytes = mapped;
    heap.InsertUnmapped(rest_number);
  }
  heap.TryMerge(number, heap.blocks[number].previous);
  heap.TryMerge(number, heap.blocks[number].next);
  heap.InsertFree(number);
  heap.Reserve(before.small, mapped);
  ++heap.statistics.num_device_alloc;
  heap.Tell(Action::kSegmentMap, before.address, mapped, before.stream, before.pool);
  return true;
}

void ExpandableSegments::Unmap(Heap& heap, BlockNumber number) {
  const Range& segment = segments_[heap.blocks[number].expandable];
  const Block before = heap.blocks[number];
  const uint64_t page = segment.page_bytes;
  const uint64_t begin = segment.address + (before.address - segment.address + page - 1) / page * page;
  const uint64_t end = segment.address + (before.address + before.bytes - segment.address) / page * page;
  if (begin >= end) return;
  heap.driver->UnmapPages(begin, end - begin);
  heap.EraseFree(before);
  const auto add_piece = [&](uint64_t address, uint64_t bytes, BlockNumber previous, BlockNumber next) {
    Block piece = before;
    piece.address = address;
    piece.bytes = bytes;
    piece.previous = previous;
    piece.next = next;
    const BlockNumber added = heap.blocks.Add(piece);
    if (previous != kNoBlock) heap.blocks[previous].next = added;
    if (next != kNoBlock) heap.blocks[next].previous = added;
    heap.InsertFree(added);
  };
  if (before.address < begin) add_piece(before.address, begin - before.address, before.previous, number);
  if (end < before.address + before.bytes)
    add_piece(end, before.address + before.bytes - end, number, before.next);
  Block& block = heap.blocks[number];
  block.address = begin;
  block.bytes = end - begin;
  block.status = BlockStatus::kUnmapped;
  heap.TryMerge(number, block.previous);
  heap.TryMerge(number, heap.blocks[number].next);
  heap.InsertUnmapped(number);
  heap.Unreserve(before.small, end - begin);
  if (before.pool != kDefaultPool) --heap.pools[before.pool].device_allocations;
  ++heap.statistics.num_device_free;
  heap.Tell(Action::kSegmentUnmap, begin, end - begin, before.stream, before.pool);
}

void ExpandableSegments::Release(Heap& heap, BlockNumber number) {
  const Block block = heap.blocks[number];
  heap.driver->ReleaseAddresses(block.address, block.bytes);
  segments_[block.expandable] = {};
  heap.EraseUnmapped(number);
  heap.blocks.Delete(number);
}

uint32_t ExpandableSegments::Adopt(const Heap& heap, uint64_t address, uint64_t bytes, bool small) {
  segments_.push_back({address, bytes, PageBytes(small, heap.settings)});
  return static_cast<uint32_t>(segments_.size() - 1);
}

}  // namespace vramscope::allocator
