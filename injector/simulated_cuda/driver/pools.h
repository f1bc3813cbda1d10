// SPDX-License-Identifier: Apache-2.0
// Looks up addresses in the stream-ordered memory pools (CUmemoryPool) of all devices.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Stores begin and size of the pool allocation that contains the address. False if there is none.
bool FindInPools(uint64_t address, uint64_t* begin, uint64_t* bytes);
// Frees the pool allocation at the address. False if there is none.
bool FreeInPools(uint64_t address);
// Returns the CUmemoryPool of the allocation that contains the address; nullptr if there is none.
void* PoolOf(uint64_t address);

}  // namespace vramscope::simulated
