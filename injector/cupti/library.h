// SPDX-License-Identifier: Apache-2.0
// The CUPTI of this process: the copy that is loaded already, else one that the loader finds. Never linked:
// most processes do not need it, and a second copy beside the program's would be a second client.
#pragma once

#include "injector/cupti/abi.h"

namespace vramscope::injector::cupti {

// nullptr when there is none, or it lacks a function that we need. Opened at the first call; not from inside
// the loader or an allocator.
const Functions* OpenCupti();

// Its version; 0 when it does not tell.
uint32_t CuptiVersion(const Functions& functions);

}  // namespace vramscope::injector::cupti
