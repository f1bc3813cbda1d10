// SPDX-License-Identifier: Apache-2.0
// What a snapshot says of the time before it: which blocks and segments were there when its history began.
//
// A history usually begins in the middle of a run, and the file says only how things stand at its end.
// Undoing the events one by one from there leads to the beginning: what was freed was there before, what was
// allocated was not.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

// A block that was there before the first event.
struct EarlierBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;            // of the block where the file has it, else the request rounded to 512
  uint64_t requested_bytes = 0;  // 0 = not known
  uint64_t stream = 0;
  StackId stack = 0;  // of its allocation, where it is known
};

struct MemoryRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
};

// Device memory that the allocator holds, as ranges that do not overlap. Touching ranges stay apart: they are
// different segments.
class HeldMemory {
 public:
  void Add(const MemoryRange& range);
  // Takes [address, address + bytes) out of whatever holds it.
  void Remove(uint64_t address, uint64_t bytes);
  // All of [address, address + bytes).
  [[nodiscard]] bool Holds(uint64_t address, uint64_t bytes) const;
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // Of the range that holds `address`; 0 where none does.
  [[nodiscard]] uint64_t StreamAt(uint64_t address) const;
  [[nodiscard]] std::vector<MemoryRange> ranges() const;

 private:
  std::map<uint64_t, MemoryRange> by_address_;
  uint64_t bytes_ = 0;
};

// The history of one device, as far as it can be told.
struct DeviceTimeline {
  std::vector<EarlierBlock> earlier_blocks;  // by address
  std::vector<MemoryRange> earlier_memory;
  // By the how-manieth event of the device it is: the size of the block, where that is more than the request
  // rounded to 512.
  std::unordered_map<uint32_t, uint64_t> block_bytes;
  uint64_t contradictions = 0;  // events that do not fit the state at the end
  bool knows_segments = false;
};

[[nodiscard]] DeviceTimeline FindTimeline(const Snapshot& snapshot, uint32_t device);

}  // namespace vramscope::snapshot
