// SPDX-License-Identifier: Apache-2.0
// The recorder's queries to the driver: the current device, memory pools, the memory in use.
//
// The queries call libcuda's exports directly. Do not call them inside dlsym. Each query may fail; each
// function documents the result for that case.
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// CUmemPool_attribute and CUgraphMem_attribute
inline constexpr int kPoolReserved = 5, kPoolUsed = 7;
inline constexpr int kGraphsUsed = 0, kGraphsReserved = 2;

// Returns the device of the thread's current context as trace::DeviceCode. If the thread has no context, the
// device index is 0xff.
uint64_t CurrentDeviceCode();
int CurrentDevice();  // -1 = the thread has no context
uint64_t CodeOfDevice(int device);

// Bytes in use and total bytes of the current context's device. Returns false if the query fails, for example
// without a context.
bool MemoryInUse(uint64_t* used, uint64_t* total);
// Like MemoryInUse, for the device of `context`.
bool MemoryInUseOf(driver::Handle context, uint64_t* used, uint64_t* total);

driver::Handle CurrentPoolOf(int device);                 // nullptr = the query failed
driver::Handle PoolOfPointer(driver::DevicePtr pointer);  // nullptr = not from a pool
bool PoolAttribute(driver::Handle pool, int attribute, uint64_t* value);
bool GraphAttribute(int device, int attribute, uint64_t* value);
bool IsPrimaryContextActive(int device);

}  // namespace vramscope::injector
