// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// cuMemFree of a buffer of external memory; false when it is none.
bool UnmapExternal(uint64_t address);

}  // namespace vramscope::simulated
