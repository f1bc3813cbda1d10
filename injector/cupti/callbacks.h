// SPDX-License-Identifier: Apache-2.0
// Records the memory events that CUPTI's callbacks report. They equal the hooks' records, without the
// calling library.
#pragma once

#include <span>

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

std::span<const Function> WatchedFunctions();

// CUPTI's callback, before and after each driver call, on its thread. `user_data`: the Functions. Counts
// every call. Records calls until the driver's hooks see a look-up.
void OnDriverCall(void* user_data, int domain, uint32_t function, const void* data);

}  // namespace vramscope::injector::cupti
