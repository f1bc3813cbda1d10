// SPDX-License-Identifier: Apache-2.0
// Converts a trace to a PyTorch memory snapshot. The snapshot has the events of one process up to a moment,
// and the segments and blocks of its allocators at this moment.
#pragma once

#include "profiler/model/run.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

struct Cut {
  uint32_t process = 0;            // index into Source::processes
  uint64_t events = ~uint64_t{0};  // number of the trace's events to convert, from the first one
};

// `run` must be loaded from `source`. The segments, the stacks, and the driver's free memory at an
// out-of-memory error are read from `run`.
//
// CUDA devices keep their number. If the process used no CUDA device, its CPU memory becomes device 0. If the
// trace has no segments, each address range that blocks have used becomes a segment.
[[nodiscard]] Result<Snapshot> FromSource(const model::Source& source, const model::Run& run, const Cut& cut);

}  // namespace vramscope::snapshot
