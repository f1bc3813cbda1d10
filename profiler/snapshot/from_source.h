// SPDX-License-Identifier: Apache-2.0
// A trace as a snapshot: the history of one process up to a moment, and what its allocators held then.
#pragma once

#include "profiler/model/run.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

struct Cut {
  uint32_t process = 0;            // into Source::processes
  uint64_t events = ~uint64_t{0};  // only so many of the trace's events
};

// `run` is what was loaded from `source`: it joins what the events tell apart. Segments, what the driver had
// left when a request failed, and stacks are those of the run.
//
// CUDA devices keep their number; a process that used none gets its CPU memory as device 0. Where the trace
// does not say which segments the allocator had, each stretch of addresses that its blocks ever used counts
// as one.
[[nodiscard]] Result<Snapshot> FromSource(const model::Source& source, const model::Run& run, const Cut& cut);

}  // namespace vramscope::snapshot
