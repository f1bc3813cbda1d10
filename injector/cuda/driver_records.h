// SPDX-License-Identifier: Apache-2.0
// The records of the driver level (trace_format/event.h: driver_alloc, driver_free, driver_map).
//
// An allocation is recorded after the call, a free before it. So if another thread gets the freed address at
// once, the trace has the free first. A failed free is recorded a second time, with the error.
#pragma once

#include <cstdint>

#include "injector/cuda/driver_call.h"
#include "trace_format/event.h"

namespace vramscope::injector {

struct DriverMemoryFacts {
  trace::DriverMemory kind;
  uint64_t address;
  uint64_t bytes;
  uint64_t device;  // trace::DeviceCode
  uint64_t stream = 0;
  uint64_t pool = 0;
};

void RecordTaken(const DriverCall& call, const DriverMemoryFacts& facts);
// Call before the driver: `call.result` is still kSuccess.
void RecordGiven(const DriverCall& call, trace::DriverMemory kind, uint64_t address, uint64_t bytes = 0);
void RecordMapping(const DriverCall& call, uint64_t address, uint64_t bytes, bool mapped, uint64_t handle);

}  // namespace vramscope::injector
