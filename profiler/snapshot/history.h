// SPDX-License-Identifier: Apache-2.0
// Converts a snapshot to the history of one device's allocator, for replay.
//
// Kinds of events may be missing (torch.cuda.memory._record_memory_history(skip_actions=...)). One half of a
// free implies the other:
//
//   free_completed alone    the block was free from then on: a request is inserted before it
//   free_requested alone    completed at once, unless the file's segments show that the block still waits
#pragma once

#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

struct DeviceHistory {
  allocator::History history;
  // By event of the history: the 0-based number of the device's event that it comes from.
  std::vector<uint32_t> numbers;
};

// Events and segments of `device` as in the file: requested bytes, addresses, order. Times: TimeAxis.
// Contains only events of the allocator; their pools may be unknown.
[[nodiscard]] DeviceHistory ReadHistory(const Snapshot& snapshot, uint32_t device);
[[nodiscard]] inline allocator::History HistoryOf(const Snapshot& snapshot, uint32_t device) {
  return ReadHistory(snapshot, device).history;
}

}  // namespace vramscope::snapshot
