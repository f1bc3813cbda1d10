// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/timeline.h"

#include <algorithm>
#include <iterator>

#include "profiler/allocator/sizing.h"
#include "profiler/model/flat_map.h"

namespace vramscope::snapshot {

void HeldMemory::Add(const MemoryRange& range) {
  if (range.bytes == 0 || range.address + range.bytes < range.address) return;
  Remove(range.address, range.bytes);
  by_address_[range.address] = range;
  bytes_ += range.bytes;
}

void HeldMemory::Remove(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  auto at = by_address_.upper_bound(address);
  if (at != by_address_.begin()) --at;
  while (at != by_address_.end() && at->first < end) {
    const MemoryRange held = at->second;
    const uint64_t held_end = held.address + held.bytes;
    if (held_end <= address) {
      ++at;
      continue;
    }
    at = by_address_.erase(at);
    bytes_ -= held.bytes;
    const auto keep = [&](uint64_t from, uint64_t to) {
      if (from >= to) return;
      by_address_[from] = {from, to - from, held.stream};
      bytes_ += to - from;
    };
    keep(held.address, address);
    keep(end, held_end);
    at = by_address_.lower_bound(held_end);
  }
}

bool HeldMemory::Holds(uint64_t address, uint64_t bytes) const {
  // Pages of an expandable segment are mapped one by one, so a block may lie in several ranges.
  for (auto at = by_address_.upper_bound(address); at != by_address_.begin();) {
    const MemoryRange& range = std::prev(at)->second;
    if (address - range.address >= range.bytes) return false;
    const uint64_t held = range.bytes - (address - range.address);
    if (bytes <= held) return true;
    bytes -= held;
    address += held;
    if (at == by_address_.end() || at->first != address) return false;
    ++at;
  }
  return false;
}

uint64_t HeldMemory::StreamAt(uint64_t address) const {
  const auto after = by_address_.upper_bound(address);
  if (after == by_address_.begin()) return 0;
  const MemoryRange& range = std::prev(after)->second;
  return address - range.address < range.bytes ? range.stream : 0;
}

std::vector<MemoryRange> HeldMemory::ranges() const {
  std::vector<MemoryRange> ranges;
  for (const auto& [address, range] : by_address_) ranges.push_back(range);
  return ranges;
}

namespace {

class Undoing {
 public:
  Undoing(const Snapshot& snapshot, uint32_t device) : snapshot_(snapshot), device_(device) {}

  DeviceTimeline Run() {
    TakeEnd();
    if (device_ < snapshot_.device_traces.size()) UndoEvents();
    for (const LiveBlock& block : blocks_) {
      if (block.live) timeline_.earlier_blocks.push_back(block.block);
    }
    std::sort(timeline_.earlier_blocks.begin(), timeline_.earlier_blocks.end(),
              [](const EarlierBlock& a, const EarlierBlock& b) { return a.address < b.address; });
    timeline_.earlier_memory = memory_.ranges();
    if (!timeline_.knows_segments) timeline_.contradictions = 0;  // there is nothing to contradict
    return std::move(timeline_);
  }

 private:
  struct LiveBlock {
    EarlierBlock block;
    bool live = true;
    bool size_known = false;
  };

  void TakeEnd() {
    for (const Segment& segment : snapshot_.segments) {
      if (segment.device != device_) continue;
      timeline_.knows_segments = true;
      memory_.Add({segment.address, segment.bytes, segment.stream});
      for (const Block& block : segment.blocks) {
        if (block.state != BlockState::kAllocated) continue;
        const uint64_t requested = block.requested_bytes == kUnknown ? 0 : block.requested_bytes;
        Insert({block.address, block.bytes, requested, segment.stream, block.stack}, true);
      }
    }
  }

  void Insert(const EarlierBlock& block, bool size_known) {
    if (block.address == 0) return;
    const auto number = static_cast<uint32_t>(blocks_.size());
    const auto [at, fresh] = live_.Insert(block.address, number);
    if (!fresh) {
      ++timeline_.contradictions;
      return;
    }
    blocks_.push_back({block, true, size_known});
  }

  void UndoEvents() {
    const auto& ranges = snapshot_.device_traces[device_];
    auto number = static_cast<uint32_t>(snapshot_.event_count(device_));
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
      for (uint32_t i = range->count; i-- > 0;) Undo(snapshot_.events[range->first + i], --number);
    }
  }

  void Undo(const Event& event, uint32_t number) {
    const uint64_t stream = snapshot_.origins[event.origin].stream;
    switch (event.action) {
      case Action::kAlloc:
        return UndoAlloc(event, number);
      case Action::kFreeRequested:
      case Action::kFreeCompleted:
        // Both halves of a free refer to the same block; the later one is undone first.
        if (event.address != 0 && live_.Find(event.address) == nullptr) {
          Insert({event.address, allocator::PlainlyRounded(event.bytes), event.bytes, stream, 0}, false);
        } else if (event.action == Action::kFreeCompleted) {
          ++timeline_.contradictions;
        }
        return;
      case Action::kSegmentAlloc:
      case Action::kSegmentMap:
        return memory_.Remove(event.address, event.bytes);
      case Action::kSegmentFree:
      case Action::kSegmentUnmap:
        return memory_.Add({event.address, event.bytes, stream});
      default:
        return;
    }
  }

  void UndoAlloc(const Event& event, uint32_t number) {
    const uint32_t* const found = event.address == 0 ? nullptr : live_.Find(event.address);
    if (found == nullptr) {
      ++timeline_.contradictions;
      return;
    }
    const uint32_t index = *found;
    LiveBlock& block = blocks_[index];
    if (block.block.requested_bytes != 0 && block.block.requested_bytes != event.bytes)
      ++timeline_.contradictions;
    if (block.size_known && block.block.bytes != allocator::PlainlyRounded(event.bytes))
      timeline_.block_bytes[number] = block.block.bytes;
    if (timeline_.knows_segments && !memory_.Holds(event.address, event.bytes)) ++timeline_.contradictions;
    block.live = false;
    live_.Erase(event.address);
    if (index + 1 == blocks_.size()) blocks_.pop_back();
  }

  const Snapshot& snapshot_;
  uint32_t device_;
  DeviceTimeline timeline_;
  HeldMemory memory_;
  model::FlatMap live_;  // address -> into blocks_
  std::vector<LiveBlock> blocks_;
};

}  // namespace

DeviceTimeline FindTimeline(const Snapshot& snapshot, uint32_t device) {
  return Undoing(snapshot, device).Run();
}

}  // namespace vramscope::snapshot
