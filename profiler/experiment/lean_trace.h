// SPDX-License-Identifier: Apache-2.0
// Reduces the trace of one re-run process to the data that what-if answers need. One trace can store dozens
// of reduced traces.
//
// The reduced trace contains every allocation of the run, and the complete deep step.
#pragma once

#include "trace_format/bytes.h"
#include "trace_format/reader.h"
#include "trace_format/result.h"

namespace vramscope::experiment {

[[nodiscard]] Result<trace::Bytes> LeanTrace(const trace::TraceReader& full, uint32_t pid);

}  // namespace vramscope::experiment
