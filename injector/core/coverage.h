// SPDX-License-Identifier: Apache-2.0
// Records in the trace which hooks work, which do not, and why. So no view claims more than was observed.
#pragma once

#include "trace_format/event.h"

namespace vramscope::injector {

// Records the state of `hook` in this process; a later record for the same name replaces it. `detail` may be
// nullptr.
void RecordCoverage(const char* hook, trace::CoverageState state, const char* detail);

}  // namespace vramscope::injector
