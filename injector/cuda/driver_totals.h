// SPDX-License-Identifier: Apache-2.0
// The memory in use as the driver reports it (driver_total), queried where it may have changed.
//
// After each operation of pools and graphs: they take memory in chunks. A changed answer is recorded. The
// whole device: at most every 10 ms, after a call that took or freed memory.
#pragma once

#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

void NotePoolDevice(driver::Handle pool, int device);
uint64_t DeviceCodeOfPool(driver::Handle pool);  // of the current device when the pool is not known
void RecordPoolTotal(driver::Handle pool);
// An allocation node exists: launches may take memory.
void NoteAllocationNode();
bool AnyAllocationNode();
void RecordGraphTotal(int device);
void RecordDeviceTotalSometimes();
void RecordDeviceTotal(uint64_t device, uint64_t used, uint64_t total);

}  // namespace vramscope::injector
