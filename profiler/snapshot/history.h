// SPDX-License-Identifier: Apache-2.0
// Converts a PyTorch memory snapshot to the history of one device's allocator, which can be replayed.
//
// The snapshot may lack some kinds of events (torch.cuda.memory._record_memory_history(skip_actions=...)). A
// free consists of two events. If one of them is missing, it is added:
//
//   only free_completed    free_requested is inserted directly before it
//   only free_requested    free_completed is inserted directly after it, unless the snapshot's segments show
//                          that the block is still waiting for a stream
#pragma once

#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

struct DeviceHistory {
  allocator::History history;
  // For each event of the history, the 0-based number of the device's event in the snapshot from which it was
  // made.
  std::vector<uint32_t> numbers;
};

// Returns the events and segments of `device`, with the requested bytes, addresses and order of the snapshot.
// Times come from TimeAxis. Contains only events of the allocator. The pool of an event may be unknown.
[[nodiscard]] DeviceHistory ReadHistory(const Snapshot& snapshot, uint32_t device);
[[nodiscard]] inline allocator::History HistoryOf(const Snapshot& snapshot, uint32_t device) {
  return ReadHistory(snapshot, device).history;
}

}  // namespace vramscope::snapshot
