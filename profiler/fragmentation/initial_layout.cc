// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/initial_layout.h"

#include <algorithm>
#include <iterator>

#include "profiler/model/flat_map.h"

namespace vramscope::fragmentation {
namespace {

using allocator::Action;
using allocator::BlockState;
using allocator::BlockUse;
using allocator::Event;
using allocator::History;
using allocator::SegmentState;

// Segments by address, without blocks.
class SegmentsBackwards {
 public:
  SegmentsBackwards(const History& history, const Rules& rules) : rules_(rules) {
    for (const SegmentState& segment : history.segments) {
      SegmentState shape = segment;
      shape.blocks.clear();
      Insert(std::move(shape));
    }
    for (auto event = history.events.rbegin(); event != history.events.rend(); ++event) Undo(*event);
  }

  std::vector<SegmentState> Take() && {
    std::vector<SegmentState> all;
    for (auto& [address, segment] : segments_) all.push_back(std::move(segment));
    return all;
  }

 private:
  void Undo(const Event& event) {
    switch (event.action) {
      case Action::kSegmentAlloc:
      case Action::kSegmentMap:
        return Remove(event.address, event.address + event.bytes);
      case Action::kSegmentFree:
      case Action::kSegmentUnmap:
        return Insert({.address = event.address,
                       .bytes = event.bytes,
                       .stream = event.stream,
                       .pool = event.pool,
                       .large = IsLarge(event),
                       .expandable = event.action == Action::kSegmentUnmap});
      default:
        return;
    }
  }

  // Segments of cudaMalloc are 2 MiB in the small pool and more in the large one. Of expandable memory
  // several pages may go at once: of 2 MiB each, or of 20.
  bool IsLarge(const Event& event) const {
    if (event.action == Action::kSegmentFree) return event.bytes != kSmallSegmentBytes;
    return event.bytes % rules_.large_segment_bytes == 0;
  }

  void Insert(SegmentState segment) {
    if (segment.bytes == 0) return;
    Remove(segment.address, segment.address + segment.bytes);
    auto place = segments_.insert_or_assign(segment.address, segment).first;
    if (!segment.expandable) return;
    const auto joined = [](const SegmentState& low, const SegmentState& high) {
      return high.expandable && low.expandable && low.address + low.bytes == high.address &&
             low.stream == high.stream && SamePool(low.pool, high.pool);
    };
    // Two pools never touch, each has more addresses than the device has memory: what is known of the
    // neighbour holds for this one.
    const auto next = std::next(place);
    if (next != segments_.end() && joined(place->second, next->second)) {
      place->second.bytes += next->second.bytes;
      place->second.large = next->second.large;
      segments_.erase(next);
    }
    if (place == segments_.begin()) return;
    const auto previous = std::prev(place);
    if (!joined(previous->second, place->second)) return;
    previous->second.bytes += place->second.bytes;
    segments_.erase(place);
  }

  void Remove(uint64_t begin, uint64_t end) {
    auto place = segments_.upper_bound(begin);
    if (place != segments_.begin()) --place;
    while (place != segments_.end() && place->first < end) {
      const SegmentState segment = place->second;
      const uint64_t segment_end = segment.address + segment.bytes;
      if (segment_end <= begin) {
        ++place;
        continue;
      }
      place = segments_.erase(place);
      if (!segment.expandable) continue;
      if (segment.address < begin) {
        SegmentState front = segment;
        front.bytes = begin - segment.address;
        segments_.emplace(front.address, front);
      }
      if (segment_end > end) {
        SegmentState back = segment;
        back.address = end;
        back.bytes = segment_end - end;
        segments_.emplace(back.address, back);
      }
    }
  }

  static bool SamePool(allocator::PoolIndex a, allocator::PoolIndex b) {
    return a == b || a == allocator::kUnknownPool || b == allocator::kUnknownPool;
  }

  const Rules& rules_;
  std::map<uint64_t, SegmentState> segments_;
};

// Blocks that the events and the end speak of and no event allocated; size 0 where it is not known.
std::vector<BlockState> BlocksBefore(const History& history) {
  enum : uint32_t { kAllocated, kPending, kFreed };
  std::vector<BlockState> blocks;
  model::FlatMap now;  // by address: what the last event about it made of it
  for (const Event& event : history.events) {
    const bool about_block = event.action <= Action::kFreeCompleted && event.address != 0;
    if (!about_block) continue;
    const auto entry = now.Insert(event.address, kAllocated);
    if (entry.fresh && event.action != Action::kAlloc) {
      const bool pending = event.action == Action::kFreeCompleted;
      blocks.push_back({.address = event.address,
                        .bytes = 0,
                        .requested_bytes = event.bytes,
                        .use = pending ? BlockUse::kPendingFree : BlockUse::kAllocated});
    }
    *entry.value = event.action == Action::kAlloc           ? kAllocated
                   : event.action == Action::kFreeRequested ? kPending
                                                            : kFreed;
  }
  for (const SegmentState& segment : history.segments) {
    for (const BlockState& block : segment.blocks) {
      const bool there = block.use != BlockUse::kFree && block.address != 0;
      if (there && now.Find(block.address) == nullptr) blocks.push_back(block);
    }
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const BlockState& a, const BlockState& b) { return a.address < b.address; });
  return blocks;
}

// Snapshots before 2.1 have events with only `free_completed`; then a block that was allocated at the begin
// looks as if it was pending. Without a single free_requested nothing is known to be pending.
bool TellsRequests(const History& history) {
  return std::any_of(history.events.begin(), history.events.end(),
                     [](const Event& event) { return event.action == Action::kFreeRequested; });
}

}  // namespace

std::vector<SegmentState> InitialSegments(const History& history, const Rules& rules,
                                          const std::map<uint64_t, uint64_t>& block_bytes) {
  if (!history.has_segments) return {};
  std::vector<SegmentState> segments = SegmentsBackwards(history, rules).Take();
  std::vector<BlockState> blocks = BlocksBefore(history);
  if (!TellsRequests(history)) {
    for (BlockState& block : blocks) {
      if (block.bytes == 0) block.use = BlockUse::kAllocated;
    }
  }
  size_t at = 0;
  for (SegmentState& segment : segments) {
    const uint64_t end = segment.address + segment.bytes;
    while (at < blocks.size() && blocks[at].address < segment.address) ++at;  // in no segment
    for (; at < blocks.size() && blocks[at].address < end; ++at) {
      BlockState block = blocks[at];
      const uint64_t limit = at + 1 < blocks.size() ? std::min(end, blocks[at + 1].address) : end;
      const uint64_t room = limit - block.address;
      const auto known = block_bytes.find(block.address);
      if (known != block_bytes.end()) {
        block.bytes = std::min(known->second, room);
      } else if (block.bytes == 0) {
        const uint64_t rounded = rules.Rounded(std::min(block.requested_bytes, room));
        block.bytes =
            rounded >= room ? room : rules.BlockBytes(rounded, room, segment.large, segment.expandable);
      }
      if (block.bytes != 0) segment.blocks.push_back(block);
    }
  }
  return segments;
}

}  // namespace vramscope::fragmentation
