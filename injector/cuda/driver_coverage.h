// SPDX-License-Identifier: Apache-2.0
// Which functions of the driver are covered, as facts of the trace: missing, hooked, proven, and how many
// were looked up through us.
#pragma once

#include "injector/cuda/driver_table.h"

namespace vramscope::injector {

// `function` has been called through ours: that, and at the first one the state of all others.
void ProveDriverFunction(DriverFunction function);

// How the driver was reached; also when it was not, but is loaded. At the end of the process.
void RecordDriverLookups();

// The next recording of this process is told everything again.
void ForgetDriverCoverage();

}  // namespace vramscope::injector
