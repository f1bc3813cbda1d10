// SPDX-License-Identifier: Apache-2.0
// Records allocations, frees and mappings that CUDA's driver makes (trace_format/event.h: driver_alloc,
// driver_free, driver_map).
//
// An allocation is recorded after the driver call, a free before the driver call. Another thread may get the
// freed address at once; the trace then still has the free first. A failed free is recorded a second time,
// with the error.
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

// Records an allocation. Call after the driver call.
void RecordTaken(const DriverCall& call, const DriverMemoryFacts& facts);
// Records a free. Call before the driver call, while `call.result` is still kSuccess.
void RecordGiven(const DriverCall& call, trace::DriverMemory kind, uint64_t address, uint64_t bytes = 0);
// Records that physical memory was mapped at an address (`mapped`: after the call), or unmapped (before the
// call).
void RecordMapping(const DriverCall& call, uint64_t address, uint64_t bytes, bool mapped, uint64_t handle);

}  // namespace vramscope::injector
