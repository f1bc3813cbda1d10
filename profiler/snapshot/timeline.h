// SPDX-License-Identifier: Apache-2.0
// The state at the beginning of a snapshot's history: the blocks and segments that existed before its first
// event.
//
// The file has only the state at the end; undoing the events one by one leads to the beginning.
//
//   events    alloc C, free B
//   end       A, C
//   before    A, B
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

// A block that existed before the first event.
struct EarlierBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;            // from the file, else the request rounded to 512
  uint64_t requested_bytes = 0;  // 0 = unknown
  uint64_t stream = 0;
  StackId stack = 0;  // at its allocation, if known
};

struct MemoryRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
};

// Device memory that the allocator holds, as ranges that do not overlap. Adjacent ranges stay separate
// segments.
class HeldMemory {
 public:
  void Add(const MemoryRange& range);
  // Removes [address, address + bytes) from the ranges that hold it.
  void Remove(uint64_t address, uint64_t bytes);
  // True if all of [address, address + bytes) is held.
  [[nodiscard]] bool Holds(uint64_t address, uint64_t bytes) const;
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // Stream of the range that holds `address`; 0 if none does.
  [[nodiscard]] uint64_t StreamAt(uint64_t address) const;
  [[nodiscard]] std::vector<MemoryRange> ranges() const;

 private:
  std::map<uint64_t, MemoryRange> by_address_;
  uint64_t bytes_ = 0;
};

struct DeviceTimeline {
  std::vector<EarlierBlock> earlier_blocks;  // by address
  std::vector<MemoryRange> earlier_memory;
  // Block sizes that differ from the request rounded up to 512. Key: 0-based number of the allocation among
  // the device's events.
  std::unordered_map<uint32_t, uint64_t> block_bytes;
  uint64_t contradictions = 0;  // events that contradict the state at the end
  bool knows_segments = false;
};

[[nodiscard]] DeviceTimeline FindTimeline(const Snapshot& snapshot, uint32_t device);

}  // namespace vramscope::snapshot
