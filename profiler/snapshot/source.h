// SPDX-License-Identifier: Apache-2.0
// Converts a PyTorch memory snapshot to trace events, so that every analysis of traces also works for
// snapshots.
//
//   blocks and segments older than the history  ─► alloc and segment events at time 0
//   alloc, free_requested, free_completed, oom  ─► alloc, free, free_completed, out_of_memory
//   segment_alloc / _free / _map / _unmap       ─► segment
//   user_metadata, annotate, host_traces        ─► marks, labels, driver_alloc (telling.h)
//   record_function("Optimizer.step#...")       ─► the optimizer's range, and the end of a step;
//                                                  other annotations: scopes
//
// A snapshot does not contain the process or the purpose of a block. A block's size comes from the snapshot
// or from a replay (block_sizes.h). If both are impossible, the size is the requested bytes, rounded up to
// 512.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// `name` is the file name, for error messages.
[[nodiscard]] std::shared_ptr<const model::Source> MakeSource(std::shared_ptr<const Snapshot> snapshot,
                                                              const std::string& name);

// Maps events of a DeviceHistory (history.h) to events of the run.
struct TraceEvents {
  // For each event of the history, the last trace event that was made from it or from an earlier event. Null
  // if unknown.
  std::shared_ptr<const std::vector<model::EventIndex>> after;
  uint64_t count = 0;  // number of all events of the trace
};

// Computes TraceEvents for DeviceHistory::numbers. `source` must come from MakeSource(). O(events).
[[nodiscard]] TraceEvents TraceEventsOf(const model::Source& source, uint32_t device,
                                        std::span<const uint32_t> numbers);

}  // namespace vramscope::snapshot
