// SPDX-License-Identifier: Apache-2.0
// The recorder's queries to the driver: the current device, memory pools, the memory in use.
//
// The functions are libcuda's exports, found once and called directly instead of through our own. They are
// never called from inside dlsym. Each of them may fail; the result is then "not known".
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// CUmemPool_attribute and CUgraphMem_attribute
inline constexpr int kPoolReserved = 5, kPoolUsed = 7;
inline constexpr int kGraphsUsed = 0, kGraphsReserved = 2;

// The device of the thread's context, as trace::DeviceCode; index 0xff when it has none.
uint64_t CurrentDeviceCode();
int CurrentDevice();  // -1 = none
uint64_t CodeOfDevice(int device);

// Memory in use on the current context's device; false if there is no current context.
bool MemoryInUse(uint64_t* used, uint64_t* total);
// Like MemoryInUse, for the device of `context`, which is made current for the query.
bool MemoryInUseOf(driver::Handle context, uint64_t* used, uint64_t* total);

driver::Handle CurrentPoolOf(int device);                 // nullptr = not known
driver::Handle PoolOfPointer(driver::DevicePtr pointer);  // nullptr = of no pool
bool PoolAttribute(driver::Handle pool, int attribute, uint64_t* value);
bool GraphAttribute(int device, int attribute, uint64_t* value);
bool IsPrimaryContextActive(int device);

}  // namespace vramscope::injector
