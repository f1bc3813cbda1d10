// SPDX-License-Identifier: Apache-2.0
// Encodes a run as a trace file in memory, for tests of code that stores runs in files or inside other
// traces. Stacks are left out.
#pragma once

#include "profiler/model/source.h"
#include "trace_format/bytes.h"

namespace vramscope::model::testing {

[[nodiscard]] trace::Bytes TraceBytes(const Source& source);

}  // namespace vramscope::model::testing
