// SPDX-License-Identifier: Apache-2.0
// The allocator's state before the first event, computed by undoing the events from the segments at the end.
//
//   events    alloc C, free B
//   end       A, C
//   before    A, B             C is undone; B was freed, so it was there before
//
// Most snapshots begin in the middle of a run. A block that the history frees but never allocated was there
// before. After the first contradiction the state is a best guess.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/history.h"

namespace vramscope::allocator {

// Two events of the history that cannot both be true.
struct Contradiction {
  uint64_t event = 0;
  std::string sentence;
};

struct InitialState {
  // In order of address. Each run of mapped pages has its own entry.
  std::vector<SegmentState> segments;
  std::vector<ExpandableRange> ranges;  // the expandable ranges that contain these runs
  std::optional<Contradiction> contradiction;
  uint64_t blocks = 0;  // in use

  [[nodiscard]] bool empty() const { return segments.empty(); }
};

// `settings`: those of the recorded run. `device_bytes` determines the address range of expandable segments.
// O(n log n).
[[nodiscard]] InitialState InitialStateOf(const History& history, const Settings& settings,
                                          const Release& release, uint64_t device_bytes);
// With the settings, release and device size of `model`.
[[nodiscard]] InitialState InitialStateOf(const History& history, const DeviceAllocator& model);

// Puts the state into an empty model.
void Adopt(const InitialState& state, DeviceAllocator* model);

}  // namespace vramscope::allocator
