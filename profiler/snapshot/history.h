// SPDX-License-Identifier: Apache-2.0
// Converts a snapshot to the history of one device's allocator, for replay and everything based on it.
//
// torch.cuda.memory._record_memory_history(skip_actions=...) omits kinds of events. A missing event is
// unknown, not a contradiction: one half of a free implies the other.
//
//   free_completed alone    the block was free from then on: its request is inserted before
//   free_requested alone    completed at once, unless the file's segments show that the block still waits
#pragma once

#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

struct DeviceHistory {
  allocator::History history;
  // For each event of the history: the 0-based number of the device's event that it was read from, or that
  // implies it.
  std::vector<uint32_t> numbers;
};

// Events and segments of `device` as in the file: requested bytes, addresses, order. Times are those of the
// file's TimeAxis. The pool of an event is unknown if the file does not record it. Events that do not concern
// the allocator are left out.
[[nodiscard]] DeviceHistory ReadHistory(const Snapshot& snapshot, uint32_t device);
[[nodiscard]] inline allocator::History HistoryOf(const Snapshot& snapshot, uint32_t device) {
  return ReadHistory(snapshot, device).history;
}

}  // namespace vramscope::snapshot
