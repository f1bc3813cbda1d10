// SPDX-License-Identifier: Apache-2.0
// Converts a trace to a snapshot: one process's history up to a moment, and what its allocators held then.
#pragma once

#include "profiler/model/run.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

struct Cut {
  uint32_t process = 0;            // into Source::processes
  uint64_t events = ~uint64_t{0};  // only this many of the trace's events
};

// `run` must be loaded from `source`. `run` provides segments, stacks, and the driver's free memory at a
// failed request.
//
// CUDA devices keep their number. A process without CUDA gets its CPU memory as device 0. Without recorded
// segments, each range of addresses that blocks ever used counts as a segment.
[[nodiscard]] Result<Snapshot> FromSource(const model::Source& source, const model::Run& run, const Cut& cut);

}  // namespace vramscope::snapshot
