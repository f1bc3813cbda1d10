// SPDX-License-Identifier: Apache-2.0
// Opens CUPTI, NVIDIA's profiling library, in this process. Uses the copy that is already loaded; otherwise
// the loader searches for one. CUPTI is never linked, because a second copy would be a second client of the
// driver.
#pragma once

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// Returns nullptr if there is no CUPTI, or if it lacks a function that we need. The first call opens the
// library. Do not call this from inside the dynamic loader or an allocator.
const Functions* OpenCupti();

// Returns the value of cuptiGetVersion, or 0 if the call fails.
uint32_t CuptiVersion(const Functions& functions);

}  // namespace vramscope::injector::cupti
