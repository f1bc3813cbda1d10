// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records of memory and of pools: a second account of what the callbacks and the hooks tell,
// for comparison.
//
// The buffers' callbacks belong to the whole process: another client that registers its own gets all records.
// So we stop before it does (client.h).
#pragma once

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// False when CUPTI refuses.
bool StartActivity(const Functions& cupti);
// Takes what is there and stops.
void StopActivity(const Functions& cupti);

// Reads the records of one buffer. Public for tests.
void ReadRecords(const Functions& cupti, uint8_t* buffer, size_t valid);

}  // namespace vramscope::injector::cupti
