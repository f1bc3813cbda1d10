// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Unmaps buffers of external memory (cuExternalMemoryGetMappedBuffer), which cuMemFree has to recognize.
namespace vramscope::simulated {

// Frees the addresses of such a buffer. False if none begins at `address`.
bool UnmapExternal(uint64_t address);

}  // namespace vramscope::simulated
