// SPDX-License-Identifier: Apache-2.0
// Queries the driver for the memory in use, at points where it may have changed, and records it as
// driver_total events.
//
// Memory pools and graphs are queried after each of their operations, because they take memory in chunks. The
// answer is recorded only if it differs from the previous one. The whole device is queried at most every 10
// ms, after a call that took or freed memory.
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// Stores the device of a pool, for DeviceCodeOfPool.
void NotePoolDevice(driver::Handle pool, int device);
uint64_t DeviceCodeOfPool(driver::Handle pool);  // the current device if the pool is unknown
void RecordPoolTotal(driver::Handle pool);
// Call this when a graph allocation node is created. From then on, graph launches may take memory.
void NoteAllocationNode();
bool AnyAllocationNode();
void RecordGraphTotal(int device);
void RecordDeviceTotalSometimes();
void RecordDeviceTotal(uint64_t device, uint64_t used, uint64_t total);

}  // namespace vramscope::injector
