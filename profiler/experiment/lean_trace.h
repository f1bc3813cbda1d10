// SPDX-License-Identifier: Apache-2.0
// Strips the trace of one re-run process down to what answers need, so that dozens of them fit into a trace.
//
// Removed: names of threads and files, texts that no remaining event refers to, facts read from source code
// (the source is our interpreter's), coverage. Kept: every allocation of the run, and the complete deep step.
#pragma once

#include "trace_format/bytes.h"
#include "trace_format/reader.h"
#include "trace_format/result.h"

namespace vramscope::experiment {

[[nodiscard]] Result<trace::Bytes> LeanTrace(const trace::TraceReader& full, uint32_t pid);

}  // namespace vramscope::experiment
