// SPDX-License-Identifier: Apache-2.0
// The trace of one process of a re-run without what an answer does not need, so that dozens of them fit into
// a trace.
//
// What goes: names of threads and files, texts that no remaining event names, facts read from source code
// (the source is our interpreter's), coverage. What stays: every allocation of the run, and the deep step as
// it is.
#pragma once

#include "trace_format/bytes.h"
#include "trace_format/reader.h"
#include "trace_format/result.h"

namespace vramscope::experiment {

[[nodiscard]] Result<trace::Bytes> LeanTrace(const trace::TraceReader& full, uint32_t pid);

}  // namespace vramscope::experiment
