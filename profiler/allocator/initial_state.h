// SPDX-License-Identifier: Apache-2.0
// Computes the allocator's state before the first event of a history. Most snapshots begin in the middle of a
// run, when the allocator already has segments and blocks.
//
// The computation starts from the segments at the end of the history and undoes the events, the last event
// first.
//
//   events    alloc C, free B
//   end       A, C
//   before    A, B             undoing "free B" adds B; undoing "alloc C" removes C
//
// If two events contradict each other, the result is a best guess.
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
  // In order of address. Each contiguous run of mapped pages of an expandable segment has its own entry.
  std::vector<SegmentState> segments;
  std::vector<ExpandableRange> ranges;  // the address ranges of the expandable segments
  std::optional<Contradiction> contradiction;
  uint64_t blocks = 0;  // number of blocks in use

  [[nodiscard]] bool empty() const { return segments.empty(); }
};

// `settings`: the allocator settings of the recorded run. `device_bytes`: memory of the device; PyTorch
// derives the address range of an expandable segment from it. O(n log n).
[[nodiscard]] InitialState InitialStateOf(const History& history, const Settings& settings,
                                          const Release& release, uint64_t device_bytes);
// Like the function above, with the settings, release and device size of `model`.
[[nodiscard]] InitialState InitialStateOf(const History& history, const DeviceAllocator& model);

// Puts the state into an empty model.
void Adopt(const InitialState& state, DeviceAllocator* model);

}  // namespace vramscope::allocator
