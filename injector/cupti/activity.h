// SPDX-License-Identifier: Apache-2.0
// Reads CUPTI's activity records of device memory and memory pools. At exit, their totals are compared with
// CUPTI's callbacks and the driver hooks. Only activity records report the static device memory of modules.
//
// A process has one set of buffer callbacks. If another client registers its own, that client gets all
// records. So StopActivity is called before another client registers (client.h).
#pragma once

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// Starts the recording of activity. False if CUPTI refuses.
bool StartActivity(const Functions& cupti);
// Stops the recording of activity, and reads the pending records.
void StopActivity(const Functions& cupti);

// Reads the records of one buffer. Public for tests.
void ReadRecords(const Functions& cupti, uint8_t* buffer, size_t valid);

}  // namespace vramscope::injector::cupti
