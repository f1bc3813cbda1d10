// SPDX-License-Identifier: Apache-2.0
// Records in the trace which hooks work, which hooks do not work, and why. With these records, a report does
// not claim more than was observed.
#pragma once

#include "trace_format/event.h"

namespace vramscope::injector {

// Records the state of `hook` in this process. A later record with the same hook name replaces an earlier
// record. `detail` may be nullptr.
void RecordCoverage(const char* hook, trace::CoverageState state, const char* detail);

}  // namespace vramscope::injector
