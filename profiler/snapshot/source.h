// SPDX-License-Identifier: Apache-2.0
// Presents a snapshot as a trace.
//
//   blocks and segments that were there before  ─► alloc and segment events at time 0
//   alloc, free_requested, free_completed, oom  ─► alloc, free, free_completed, out_of_memory
//   segment_alloc / _free / _map / _unmap       ─► segment
//   user_metadata, annotate, host_traces        ─► marks, labels, driver_alloc (telling.h)
//   record_function("Optimizer.step#...")       ─► an optimizer's range and its step;
//                                                  other annotations: scopes
//
// A snapshot knows neither the process nor the purpose of a block. A block's size comes from the file or a
// replay (block_sizes.h), else it is the request rounded to 512 bytes.
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

// `name`: of the file, for messages.
[[nodiscard]] std::shared_ptr<const model::Source> MakeSource(std::shared_ptr<const Snapshot> snapshot,
                                                              const std::string& name);

// Maps moments of a DeviceHistory to moments of the run.
struct TraceEvents {
  // By event of the history: the last trace event made from it or from earlier events. Null: not known.
  std::shared_ptr<const std::vector<model::EventIndex>> after;
  uint64_t count = 0;  // all events of the trace
};

// For a DeviceHistory with these `numbers`. `source` must come from MakeSource(). O(events).
[[nodiscard]] TraceEvents TraceEventsOf(const model::Source& source, uint32_t device,
                                        std::span<const uint32_t> numbers);

}  // namespace vramscope::snapshot
