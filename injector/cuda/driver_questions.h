// SPDX-License-Identifier: Apache-2.0
// The recorder's queries to the driver: the current device, memory pools, the memory in use.
//
// Calls libcuda's exports directly. Not inside dlsym. Each query may fail; the result is then "not known".
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// CUmemPool_attribute and CUgraphMem_attribute
inline constexpr int kPoolReserved = 5, kPoolUsed = 7;
inline constexpr int kGraphsUsed = 0, kGraphsReserved = 2;

// The device of the thread's context, as trace::DeviceCode; index 0xff without one.
uint64_t CurrentDeviceCode();
int CurrentDevice();  // -1 = none
uint64_t CodeOfDevice(int device);

// Memory in use on the current context's device; false without one.
bool MemoryInUse(uint64_t* used, uint64_t* total);
// Like MemoryInUse, for the device of `context`.
bool MemoryInUseOf(driver::Handle context, uint64_t* used, uint64_t* total);

driver::Handle CurrentPoolOf(int device);                 // nullptr = not known
driver::Handle PoolOfPointer(driver::DevicePtr pointer);  // nullptr = of no pool
bool PoolAttribute(driver::Handle pool, int attribute, uint64_t* value);
bool GraphAttribute(int device, int attribute, uint64_t* value);
bool IsPrimaryContextActive(int device);

}  // namespace vramscope::injector
