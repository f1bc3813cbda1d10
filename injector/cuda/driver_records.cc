// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver_records.h"

#include "injector/core/driver_sight.h"
#include "injector/cuda/driver_questions.h"

namespace vramscope::injector {

using trace::DriverFlags;
using trace::EventType;

namespace {

// The kinds that CUPTI counts too (injector/cupti).
bool IsDeviceMemory(trace::DriverMemory kind) {
  return kind == trace::DriverMemory::kDevice || kind == trace::DriverMemory::kManaged ||
         kind == trace::DriverMemory::kPoolBlock || kind == trace::DriverMemory::kPhysical;
}

}  // namespace

void RecordTaken(const DriverCall& call, const DriverMemoryFacts& facts) {
  const bool taken = call.result == driver::kSuccess;
  if (taken && IsDeviceMemory(facts.kind)) seen_by_hooks.CountAllocation(facts.bytes);
  RecordAfterAll(EventType::kDriverAlloc, static_cast<uint16_t>(call.result), call.api(),
                 taken ? facts.address : 0, taken ? facts.bytes : 0, facts.device, facts.stream,
                 call.library(), DriverFlags(facts.kind, facts.pool));
}

void RecordGiven(const DriverCall& call, trace::DriverMemory kind, uint64_t address, uint64_t bytes) {
  if (IsDeviceMemory(kind)) seen_by_hooks.frees.fetch_add(1, std::memory_order_relaxed);
  Record(EventType::kDriverFree, static_cast<uint16_t>(call.result), call.api(), address, bytes,
         CurrentDeviceCode(), call.library(), DriverFlags(kind, 0));
}

void RecordMapping(const DriverCall& call, uint64_t address, uint64_t bytes, bool mapped, uint64_t handle) {
  const uint64_t words[] = {address, bytes, CurrentDeviceCode(), mapped, handle};
  call.api();  // proves the hook
  if (mapped) {
    RecordWordsAfterAll(static_cast<uint8_t>(EventType::kDriverMap), static_cast<uint16_t>(call.result),
                        call.library(), words, 5);
  } else {
    RecordWords(static_cast<uint8_t>(EventType::kDriverMap), static_cast<uint16_t>(call.result),
                call.library(), words, 5);
  }
}

}  // namespace vramscope::injector
