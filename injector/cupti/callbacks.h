// SPDX-License-Identifier: Apache-2.0
// Records the CUDA driver's memory calls that CUPTI's callbacks report. The records equal those of the hooks,
// except that the calling library is missing.
#pragma once

#include <span>

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// Returns CUPTI's callback ids of the driver functions that OnDriverCall() handles.
std::span<const Function> WatchedFunctions();

// CUPTI's callback. CUPTI calls it before and after each driver call, on the thread that makes the driver
// call. `user_data`: a Functions (abi.h). Counts every allocation and free in seen_by_callbacks. Records
// driver calls only while the hooks of the driver have seen no look-up of a driver function.
void OnDriverCall(void* user_data, int domain, uint32_t function, const void* data);

}  // namespace vramscope::injector::cupti
