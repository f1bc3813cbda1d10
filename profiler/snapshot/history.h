// SPDX-License-Identifier: Apache-2.0
// A snapshot as the history of one device's allocator, for replay and what stands on it.
//
// torch.cuda.memory._record_memory_history(skip_actions=...) leaves out kinds of events. What is absent is
// not known, which is no contradiction: of the two halves of a free one tells of the other.
//
//   free_completed alone    the block was free from then on: its request is put in front
//   free_requested alone    completed at once, unless the file's segments say that the block still waits
#pragma once

#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

struct DeviceHistory {
  allocator::History history;
  // By event of the history: which event of the device it is, from 0, or which one tells of it.
  std::vector<uint32_t> numbers;
};

// Events and segments of `device` as the file has them: requested bytes, addresses, order. Times are those of
// the file's TimeAxis; the pool of an event is unknown in files that do not say it. Left out are events that
// say nothing about the allocator.
[[nodiscard]] DeviceHistory ReadHistory(const Snapshot& snapshot, uint32_t device);
[[nodiscard]] inline allocator::History HistoryOf(const Snapshot& snapshot, uint32_t device) {
  return ReadHistory(snapshot, device).history;
}

}  // namespace vramscope::snapshot
