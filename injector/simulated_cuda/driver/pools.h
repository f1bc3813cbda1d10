// SPDX-License-Identifier: Apache-2.0
// The pools of all devices, to look up pointers of unknown origin.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

bool FindInPools(uint64_t address, uint64_t* begin, uint64_t* bytes);
bool FreeInPools(uint64_t address);
// CUmemoryPool of the allocation that contains the address; nullptr = none.
void* PoolOf(uint64_t address);

}  // namespace vramscope::simulated
