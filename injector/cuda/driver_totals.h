// SPDX-License-Identifier: Apache-2.0
// The memory in use as the driver reports it (driver_total), queried where it may have changed.
//
// Pools and graphs take memory in chunks of their own. After each of their operations the driver is queried,
// and the answer is recorded if it differs from the previous one. The device as a whole is queried at most
// every 10 ms, right after a call that took or freed memory.
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

void NotePoolDevice(driver::Handle pool, int device);
uint64_t DeviceCodeOfPool(driver::Handle pool);  // of the current device when the pool is not known
void RecordPoolTotal(driver::Handle pool);
// An allocation node exists: from now on, launches may take memory.
void NoteAllocationNode();
bool AnyAllocationNode();
void RecordGraphTotal(int device);
void RecordDeviceTotalSometimes();
void RecordDeviceTotal(uint64_t device, uint64_t used, uint64_t total);

}  // namespace vramscope::injector
