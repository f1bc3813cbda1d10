// SPDX-License-Identifier: Apache-2.0
// Records which driver functions are covered (missing, hooked, proven), and how many were looked up through
// us.
#pragma once

#include "injector/cuda/driver_table.h"

namespace vramscope::injector {

// Records that `function` was called through ours. The first call also records as hooked every function that
// was looked up.
void ProveDriverFunction(DriverFunction function);

// Records how the driver was reached, or that it was not. Call at the process's end.
void RecordDriverLookups();

// After this, the next recording reports everything again.
void ForgetDriverCoverage();

}  // namespace vramscope::injector
