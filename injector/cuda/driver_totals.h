// SPDX-License-Identifier: Apache-2.0
// What the driver itself says is in use (driver_total), asked for where it may have changed.
//
// Pools and graphs take memory in chunks of their own: after each of their operations the driver is asked,
// and recorded when its answer is another than before. The device as a whole is asked at most every 10 ms,
// right after a call that took or gave back memory.
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

void NotePoolDevice(driver::Handle pool, int device);
uint64_t DeviceCodeOfPool(driver::Handle pool);  // of the current device when the pool is not known
void RecordPoolTotal(driver::Handle pool);
// An allocation node exists: from now on launches may take memory.
void NoteAllocationNode();
bool AnyAllocationNode();
void RecordGraphTotal(int device);
void RecordDeviceTotalSometimes();
void RecordDeviceTotal(uint64_t device, uint64_t used, uint64_t total);

}  // namespace vramscope::injector
