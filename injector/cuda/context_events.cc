// SPDX-License-Identifier: Apache-2.0
// Events of contexts, code and function look-ups: calls that have no size argument or take no memory.
//
// A context's size is the growth of the device's used memory while it is created. NVML is asked, because
// there is no context yet. Without NVML the size is 0: not known. Code is measured in the current context, at
// loading, first look-up or use (loaded_functions.h), and unloading. Other threads and processes that
// allocate meanwhile disturb both measurements.
#include <atomic>

#include "injector/cuda/device_use.h"
#include "injector/cuda/driver_events.h"
#include "injector/cuda/driver_questions.h"
#include "injector/cuda/driver_records.h"
#include "injector/cuda/driver_totals.h"
#include "injector/cuda/function_lookup.h"

namespace vramscope::injector::driver {
namespace {

using trace::DriverMemory;

constexpr int kMostDevices = 64;
// The primary context of each device, while it is alive.
constinit std::atomic<Handle> primary_contexts[kMostDevices] = {};

uint64_t Number(const void* handle) { return reinterpret_cast<uint64_t>(handle); }
uint64_t Growth(uint64_t before, uint64_t after) { return after > before ? after - before : 0; }

constexpr uint64_t kNotKnown = ~uint64_t{0};

uint64_t UsedOf(int device) {
  uint64_t used = 0;
  return DeviceUse(device, &used) ? used : kNotKnown;
}

// `before`: the device's used memory, or kNotKnown.
void RecordContext(const DriverCall& call, Handle context, int device, uint64_t before) {
  const uint64_t after = before == kNotKnown ? kNotKnown : UsedOf(device);
  RecordTaken(call, {.kind = DriverMemory::kContext,
                     .address = Number(context),
                     .bytes = after == kNotKnown ? 0 : Growth(before, after),
                     .device = CodeOfDevice(device)});
  uint64_t used = 0, total = 0;
  if (call.result == kSuccess) NoteContextOn(device);
  if (call.result == kSuccess && MemoryInUseOf(context, &used, &total))
    RecordDeviceTotal(CodeOfDevice(device), used, total);
}

}  // namespace

// The runtime requests the primary context again and again; it is created once.
void MakesPrimaryContext::Before(DriverCall& call, const Handle*, int device) {
  call.note[0] = IsPrimaryContextActive(device);
  if (!call.note[0]) call.note[1] = UsedOf(device);
}

void MakesPrimaryContext::After(DriverCall& call, const Handle* context, int device) {
  if (call.note[0]) return;
  RecordContext(call, *context, device, call.note[1]);
  if (call.result == kSuccess && device >= 0 && device < kMostDevices)
    primary_contexts[device].store(*context, std::memory_order_relaxed);
}

void EndsPrimaryContext::Before(DriverCall& call, int device) {
  call.note[0] = IsPrimaryContextActive(device);
}

void EndsPrimaryContext::After(DriverCall& call, int device) {
  if (!call.note[0] || device < 0 || device >= kMostDevices || IsPrimaryContextActive(device)) return;
  Handle const context = primary_contexts[device].exchange(nullptr, std::memory_order_relaxed);
  if (context != nullptr) RecordGiven(call, DriverMemory::kContext, Number(context));
}

void MakesContext::Before(DriverCall& call, const Handle*, unsigned, int device) {
  call.note[1] = UsedOf(device);
}
void MakesContext::Before(DriverCall& call, const Handle*, const void*, int, unsigned, int device) {
  call.note[1] = UsedOf(device);
}
void MakesContext::Before(DriverCall& call, const Handle*, const void*, unsigned, int device) {
  call.note[1] = UsedOf(device);
}
void MakesContext::Before(DriverCall& call, const Handle*, const void*, int device, unsigned) {
  call.note[1] = UsedOf(device);
}

void MakesContext::After(DriverCall& call, const Handle* context, unsigned, int device) {
  RecordContext(call, *context, device, call.note[1]);
}
void MakesContext::After(DriverCall& call, const Handle* context, const void*, int, unsigned, int device) {
  RecordContext(call, *context, device, call.note[1]);
}
void MakesContext::After(DriverCall& call, const Handle* context, const void*, unsigned, int device) {
  RecordContext(call, *context, device, call.note[1]);
}
void MakesContext::After(DriverCall& call, const Handle* context, const void*, int device, unsigned) {
  RecordContext(call, *context, device, call.note[1]);
}

void EndsContext::Before(DriverCall& call, Handle context) {
  Note(call, DriverMemory::kContext, Number(context));
}

void EndsContext::After(DriverCall& call, Handle context) {
  Finish(call, DriverMemory::kContext, Number(context));
}

void LoadsCode::RecordShrinkage(const DriverCall& call, Handle module) {
  uint64_t used = 0, total = 0;
  const bool known = call.result == kSuccess && call.note[0] != kNotKnown && MemoryInUse(&used, &total);
  const uint64_t bytes = known ? Growth(used, call.note[0]) : 0;
  if (bytes == 0 && module == nullptr) return;
  RecordGiven(call, DriverMemory::kModule, Number(module), bytes);
  if (bytes != 0) RecordDeviceTotal(CurrentDeviceCode(), used, total);
}

void LoadsCode::NoteUse(DriverCall& call) {
  uint64_t total = 0;
  if (!MemoryInUse(&call.note[0], &total)) call.note[0] = kNotKnown;
}

void LoadsCode::RecordUse(const DriverCall& call, Handle module) {
  uint64_t used = 0, total = 0;
  const bool known = call.note[0] != kNotKnown && MemoryInUse(&used, &total);
  RecordTaken(call, {.kind = DriverMemory::kModule,
                     .address = Number(module),
                     .bytes = known ? Growth(call.note[0], used) : 0,
                     .device = CurrentDeviceCode()});
  if (known && used != call.note[0]) RecordDeviceTotal(CurrentDeviceCode(), used, total);
}

// Not attributed to a handle: code comes in blocks that all kernels share.
bool LoadsCode::RecordGrowth(const DriverCall& call) {
  uint64_t used = 0, total = 0;
  if (call.result != kSuccess || call.note[0] == kNotKnown || !MemoryInUse(&used, &total)) return false;
  if (used <= call.note[0]) return false;
  RecordUse(call, nullptr);
  return true;
}

// Only the device's used memory shows how much memory the driver frees.
void UnloadsCode::After(DriverCall& call, Handle module) {
  ForgetLoaded();
  RecordShrinkage(call, module);
}

void SetsLimit::After(DriverCall& call, int, size_t) {
  ForgetLoaded();
  RecordGrowth(call);
  RecordShrinkage(call, nullptr);
}

void TellsUse::After(DriverCall& call, const size_t* free_bytes, const size_t* total) {
  call.api();
  if (call.result != kSuccess || free_bytes == nullptr || total == nullptr) return;
  RecordDeviceTotal(CurrentDeviceCode(), *total - *free_bytes, *total);
}

void FindsFunction::After(DriverCall& call, const char* name, void** function, int version, uint64_t flags,
                          int*) {
  if (call.result == kSuccess) StandInForAnswer(call.caller(), name, function, version, flags);
}

}  // namespace vramscope::injector::driver
