// SPDX-License-Identifier: Apache-2.0
// What the driver's functions do to memory, as CUPTI's callbacks report it. Produces the records of the
// hooks, but without the calling library, which CUPTI does not know.
#pragma once

#include <span>

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// The functions to subscribe to.
std::span<const Function> WatchedFunctions();

// CUPTI's callback; `user_data` is the Functions for queries. Called on the thread that calls the driver,
// before and after the call. Counts every call. Records it only as long as the driver's hooks have seen no
// look-up; from then on the hooks record.
void OnDriverCall(void* user_data, int domain, uint32_t function, const void* data);

}  // namespace vramscope::injector::cupti
