// SPDX-License-Identifier: Apache-2.0
// The memory in use as the driver reports it (driver_total), queried where it may have changed.
//
// Pools and graphs are queried after each of their operations, as they take memory in chunks; a changed
// answer is recorded. The whole device is queried at most every 10 ms, after a call that took or freed
// memory.
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

void NotePoolDevice(driver::Handle pool, int device);
uint64_t DeviceCodeOfPool(driver::Handle pool);  // of the current device if the pool is not known
void RecordPoolTotal(driver::Handle pool);
// Call when an allocation node is created: launches may take memory from then on.
void NoteAllocationNode();
bool AnyAllocationNode();
void RecordGraphTotal(int device);
void RecordDeviceTotalSometimes();
void RecordDeviceTotal(uint64_t device, uint64_t used, uint64_t total);

}  // namespace vramscope::injector
