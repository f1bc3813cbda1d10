// SPDX-License-Identifier: Apache-2.0
// The CUPTI of this process: the loaded copy, or the loader's. Never linked: a second copy would be a second
// client.
#pragma once

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// nullptr without a CUPTI that has all functions we need. Opened at the first call; not inside the loader or
// an allocator.
const Functions* OpenCupti();

// CUPTI's version; 0 if unknown.
uint32_t CuptiVersion(const Functions& functions);

}  // namespace vramscope::injector::cupti
