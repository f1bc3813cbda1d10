// SPDX-License-Identifier: Apache-2.0
// Finds the blocks and segments that existed before the first event of a snapshot's history.
//
// The file contains only the state at the end. The state at the beginning is found by undoing all events,
// from the last to the first:
//
//   events       alloc C, free B
//   at the end   A, C
//   before       A, B
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
  uint64_t bytes = 0;            // block size; if unknown, the request rounded up to 512
  uint64_t requested_bytes = 0;  // 0 = unknown
  uint64_t stream = 0;
  StackId stack = 0;  // stack of the allocation; 0 = unknown
};

struct MemoryRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
};

// The device memory of the allocator, as ranges that do not overlap. Adjacent ranges are not merged.
class HeldMemory {
 public:
  void Add(const MemoryRange& range);
  // Removes [address, address + bytes). Ranges that contain a part of these addresses are shortened or split.
  void Remove(uint64_t address, uint64_t bytes);
  // True if all of [address, address + bytes) is held.
  [[nodiscard]] bool Holds(uint64_t address, uint64_t bytes) const;
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // Returns the stream of the range that contains `address`, or 0 if no range contains it.
  [[nodiscard]] uint64_t StreamAt(uint64_t address) const;
  [[nodiscard]] std::vector<MemoryRange> ranges() const;

 private:
  std::map<uint64_t, MemoryRange> by_address_;
  uint64_t bytes_ = 0;
};

struct DeviceTimeline {
  std::vector<EarlierBlock> earlier_blocks;  // in order of address
  std::vector<MemoryRange> earlier_memory;
  // Block sizes that differ from the request rounded up to 512. The key is the 0-based number of the
  // allocation event among the device's events.
  std::unordered_map<uint32_t, uint64_t> block_bytes;
  uint64_t contradictions = 0;  // events that contradict the state at the end
  bool knows_segments = false;
};

[[nodiscard]] DeviceTimeline FindTimeline(const Snapshot& snapshot, uint32_t device);

}  // namespace vramscope::snapshot
