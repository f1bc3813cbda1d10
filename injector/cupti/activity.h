// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records of memory and memory pools. They are compared with what the callbacks and the
// hooks report. Globals of modules (static device memory) are recorded only here.
//
// The buffer callbacks belong to the whole process. If another client registers its callbacks, that client
// gets all records. So we stop before it registers (client.h).
#pragma once

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// False if CUPTI refuses.
bool StartActivity(const Functions& cupti);
// Reads the pending records and stops.
void StopActivity(const Functions& cupti);

// Reads the records of one buffer. Public for tests.
void ReadRecords(const Functions& cupti, uint8_t* buffer, size_t valid);

}  // namespace vramscope::injector::cupti
