// SPDX-License-Identifier: Apache-2.0
// Computes what an allocator held before the first event of its history: the segments at the end, with the
// events undone.
//
//   events    alloc C, free B
//   end       A, C
//   before    A, B             C is undone; B was freed, so it was there before
//
// Why: most snapshots begin in the middle of a run. If the history frees a block that it never allocated,
// the block was there before. The same holds for a segment that it gives back, or that is left at the end,
// and that it never took. Only the slack of a freed block cannot be found that way: large blocks may keep
// up to 1 MiB that is not split off. It is derived from the first block placed after it. After the first
// contradiction the state is a best guess: every block lies in a segment and no blocks overlap.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/history.h"

namespace vramscope::allocator {

// The history contains two events that cannot both be true.
struct Contradiction {
  uint64_t event = 0;    // into History::events
  std::string sentence;  // the event, and the earlier one that it contradicts
};

struct InitialState {
  // In order of address; those of expandable segments are runs of mapped pages.
  std::vector<SegmentState> segments;
  std::vector<ExpandableRange> ranges;  // the ranges that these runs lie in
  std::optional<Contradiction> contradiction;
  uint64_t blocks = 0;  // in use

  [[nodiscard]] bool empty() const { return segments.empty(); }
};

// Uses the settings of the recorded run. `device_bytes` determines the address range of expandable segments.
// O(n log n).
[[nodiscard]] InitialState InitialStateOf(const History& history, const Settings& settings,
                                          const Release& release, uint64_t device_bytes);
// Uses the settings of a model.
[[nodiscard]] InitialState InitialStateOf(const History& history, const DeviceAllocator& model);

// Puts the state into an empty model.
void Adopt(const InitialState& state, DeviceAllocator* model);

}  // namespace vramscope::allocator
