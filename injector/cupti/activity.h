// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records of memory and of pools: a second account of what the callbacks and the hooks
// report, for comparison.
//
// The buffers' callbacks belong to the whole process: if another client registers its own, it gets all
// records. So we stop before it does (client.h).
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
