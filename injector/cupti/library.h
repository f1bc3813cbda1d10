// SPDX-License-Identifier: Apache-2.0
// The CUPTI of this process: the copy that is already loaded, otherwise the one that the loader finds. Never
// linked: most processes do not need it, and a second copy would be a second client.
#pragma once

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// nullptr if there is none, or if it lacks a function that we need. Opened at the first call; not from inside
// the loader or an allocator.
const Functions* OpenCupti();

// Its version; 0 if unknown.
uint32_t CuptiVersion(const Functions& functions);

}  // namespace vramscope::injector::cupti
