// SPDX-License-Identifier: Apache-2.0
// What an allocator held before the first event of its history: the segments of the end, with the events
// undone.
//
// Why: most snapshots begin in the middle of a run. A block that is freed without having been allocated was
// there before; so was a segment that is given back without having been taken, and what is left at the end
// and was not taken either. Only one thing does not follow from that: the slack of a block that was freed
// (large blocks may carry up to 1 MiB that is not split off), which is found from the first block that is
// placed behind it. Behind the first contradiction the state is a best guess: every block lies in a segment,
// and none reaches into the next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/history.h"

namespace vramscope::allocator {

// The history says two things that cannot both be true.
struct Contradiction {
  uint64_t event = 0;    // into History::events
  std::string sentence;  // what it says and what it said before
};

struct InitialState {
  std::vector<SegmentState>
      segments;  // in order of address; those of expandable segments are runs of mapped pages
  std::vector<ExpandableRange> ranges;  // that these runs lie in
  std::optional<Contradiction> contradiction;
  uint64_t blocks = 0;  // in use

  [[nodiscard]] bool empty() const { return segments.empty(); }
};

// By the settings of the recorded run; `device_bytes` decides how far expandable segments reach. O(n log n).
[[nodiscard]] InitialState InitialStateOf(const History& history, const Settings& settings,
                                          const Release& release, uint64_t device_bytes);
// By those of a model.
[[nodiscard]] InitialState InitialStateOf(const History& history, const DeviceAllocator& model);

// Puts the state into a model that is still empty.
void Adopt(const InitialState& state, DeviceAllocator* model);

}  // namespace vramscope::allocator
