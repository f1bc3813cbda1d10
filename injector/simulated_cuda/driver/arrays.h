// SPDX-License-Identifier: Apache-2.0
// Unmaps a buffer of external memory (cuExternalMemoryGetMappedBuffer). Programs free such a buffer with
// cuMemFree.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Frees the addresses of the mapped buffer that begins at `address`. False if no such buffer begins there.
bool UnmapExternal(uint64_t address);

}  // namespace vramscope::simulated
