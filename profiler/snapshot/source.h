// SPDX-License-Identifier: Apache-2.0
// A snapshot in the words of a trace, so that every view takes one.
//
//   blocks and segments that were there before  ─► alloc and segment events at time 0
//   alloc, free_requested, free_completed, oom  ─► alloc, free, free_completed, out_of_memory
//   segment_alloc / _free / _map / _unmap       ─► segment
//   user_metadata, annotate, host_traces        ─► marks, labels, driver_alloc (telling.h)
//   record_function("Optimizer.step#...")       ─► an optimizer's range and its step;
//                                                  other annotations: scopes
//
// A snapshot knows neither the process nor what a block is for; nothing is put in the place of what it does
// not know. Events carry requested bytes: a block counts with its own size where the file has it or a replay
// tells it (block_sizes.h), else with the request rounded to 512 bytes.
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

// For each event of a DeviceHistory, whose `numbers` these are, the last trace event that `source`, made by
// MakeSource(), has told after it: where the history's moments lie among those of the run. Nothing for other
// sources. O(events).
[[nodiscard]] std::shared_ptr<const std::vector<model::EventIndex>> TraceEventsOf(
    const model::Source& source, uint32_t device, std::span<const uint32_t> numbers);

// Opens a trace or a snapshot, told apart by their first bytes.
[[nodiscard]] Result<std::shared_ptr<const model::Source>> OpenSource(const std::string& path);
// The same, loaded.
[[nodiscard]] Result<model::Run> LoadFile(const std::string& path);

}  // namespace vramscope::snapshot
