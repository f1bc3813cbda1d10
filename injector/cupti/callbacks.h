// SPDX-License-Identifier: Apache-2.0
// Records the memory events of the driver's functions that CUPTI's callbacks report. The records are those of
// the hooks, but without the calling library, which CUPTI does not report.
#pragma once

#include <span>

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// The functions to subscribe to.
std::span<const Function> WatchedFunctions();

// CUPTI's callback; `user_data` is the Functions for queries. Called on the thread that calls the driver,
// before and after the call. Counts every call. Records calls until the driver's hooks see a function
// looked up for the first time; after that, the hooks record them.
void OnDriverCall(void* user_data, int domain, uint32_t function, const void* data);

}  // namespace vramscope::injector::cupti
