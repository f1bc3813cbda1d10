// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// cuMemFree of a buffer of external memory; false if it is not one.
bool UnmapExternal(uint64_t address);

}  // namespace vramscope::simulated
