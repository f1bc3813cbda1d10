// SPDX-License-Identifier: Apache-2.0
// The allocator's state before the first event of its history: computed from the segments at the end by
// undoing the events.
//
//   events    alloc C, free B
//   end       A, C
//   before    A, B             C is undone; B was freed, so it was there before
//
// Why: most snapshots begin in the middle of a run. If the history frees a block that it never allocated, the
// block was there before. The same holds for a segment that the history never allocated, if the history
// frees it or the segment exists at the end. Only the slack of a freed block cannot be found in this way: a
// large block may keep up to 1 MiB that is not split off. The freed block ended where the first later
// allocation in the free space after it begins. After the first contradiction the state is a best guess:
// every block lies in a segment and no blocks overlap.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/history.h"

namespace vramscope::allocator {

// Two events of the history that cannot both be true.
struct Contradiction {
  uint64_t event = 0;    // into History::events
  std::string sentence;  // describes the contradiction
};

struct InitialState {
  // In order of address. An expandable segment has one entry for each run of mapped pages.
  std::vector<SegmentState> segments;
  std::vector<ExpandableRange> ranges;  // the ranges that these runs lie in
  std::optional<Contradiction> contradiction;
  uint64_t blocks = 0;  // in use

  [[nodiscard]] bool empty() const { return segments.empty(); }
};

// `settings` are those of the recorded run. `device_bytes` determines the address range of expandable
// segments. O(n log n).
[[nodiscard]] InitialState InitialStateOf(const History& history, const Settings& settings,
                                          const Release& release, uint64_t device_bytes);
// The same, with the settings, release and device size of `model`.
[[nodiscard]] InitialState InitialStateOf(const History& history, const DeviceAllocator& model);

// Puts the state into an empty model.
void Adopt(const InitialState& state, DeviceAllocator* model);

}  // namespace vramscope::allocator
