// SPDX-License-Identifier: Apache-2.0
// Records in the trace which driver functions are covered (missing, hooked, proven), and how many were looked
// up through us.
#pragma once

#include "injector/cuda/driver_table.h"

namespace vramscope::injector {

// Records that `function` was called through ours. The first call of any function also records the state of
// all others.
void ProveDriverFunction(DriverFunction function);

// Records how the driver was reached, or that it is loaded but was not reached. Called at the end of the
// process.
void RecordDriverLookups();

// Makes the next recording of this process report everything again.
void ForgetDriverCoverage();

}  // namespace vramscope::injector
