// SPDX-License-Identifier: Apache-2.0
// Records the coverage of the driver's functions (missing, hooked or proven), and how many functions were
// looked up through our hooks.
#pragma once

#include "injector/cuda/driver_table.h"

namespace vramscope::injector {

// Records that the program called our hook of `function` (proven). The first call also records every function
// that was looked up (hooked).
void ProveDriverFunction(DriverFunction function);

// Records the numbers of look-ups with dlsym and cuGetProcAddress. Call at the end of the process. Records
// nothing if no driver is loaded.
void RecordDriverLookups();

// Resets the counts, so that the next recording of this process reports its coverage again.
void ForgetDriverCoverage();

}  // namespace vramscope::injector
