// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records of memory and memory pools. The records are compared with the callbacks and hooks.
// Static device memory of modules is recorded only here.
//
// A process has one set of buffer callbacks. If another client registers, that client gets all records. So we
// stop before it registers (client.h).
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
