// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/driver/context.h"

#include <mutex>
#include <utility>

#include "injector/simulated_cuda/driver/private_calls.h"
#include "injector/simulated_cuda/driver/recorder_frames.h"

namespace vramscope::simulated {
namespace {

std::mutex activating;
Context primary[kMaxDevices];
bool active[kMaxDevices];
thread_local Context* current = nullptr;
thread_local Origin announced = {nullptr, nullptr};

}  // namespace

Context* CurrentContext() { return current; }
void SetCurrentContext(Context* context) { current = context; }
int CurrentDevice() { return current != nullptr ? current->device : -1; }
bool IsDevice(int device) { return device >= 0 && device < TheSettings().devices; }

int ActivateDevice(int device, Context** context) {
  if (!IsDevice(device)) return kInvalidDevice;
  const std::lock_guard<std::mutex> lock(activating);
  *context = &primary[device];
  if (active[device]) return kSuccess;
  const uint64_t bytes = TheSettings().context;
  if (bytes != 0 && DeviceNumber(device).TakePhysical(bytes, {"context", nullptr}) == nullptr)
    return kOutOfMemory;
  primary[device].device = device;
  active[device] = true;
  return kSuccess;
}

int CreateContext(int device, Context** context) {
  if (!IsDevice(device)) return kInvalidDevice;
  LedgerRow* const row = DeviceNumber(device).TakePhysical(TheSettings().context, {"context", nullptr});
  if (row == nullptr) return kOutOfMemory;
  *context = new Context{device, 0, 0, row};
  return kSuccess;
}

void DestroyContext(Context* context) {
  if (context->row == nullptr) return;  // a primary one, which only a reset ends
  DeviceNumber(context->device).GivePhysical(context->row, TheSettings().context);
  if (current == context) current = nullptr;
  delete context;
}

bool IsActive(int device) {
  const std::lock_guard<std::mutex> lock(activating);
  return active[device];
}

Origin OriginOf(const char* call, const void* caller) {
  Origin origin = announced.call != nullptr ? announced : Origin{call, caller};
  if (IsOfRecorder(origin.caller)) origin.caller = CallerBeyondRecorder();
  return origin;
}

Stream* StreamOf(void* handle) {
  const int device = CurrentDevice();
  return TheStreams().Find(handle, device < 0 ? 0 : device);
}

}  // namespace vramscope::simulated

using namespace vramscope::simulated;

namespace {

thread_local int64_t told_count = -1;

bool IsInMachine(int physical) { return physical >= 0 && physical < TheSettings().machine_devices; }

}  // namespace

SIMULATED_EXPORT int vramscope_simulated_machine(const char** product, size_t* capacity) {
  *product = TheSettings().gpu->product;
  *capacity = TheSettings().capacity;
  return TheSettings().machine_devices;
}

SIMULATED_EXPORT int vramscope_simulated_nccl(uint64_t* bytes) {
  *bytes = TheSettings().nccl;
  return TheSettings().nccl_measured;
}

SIMULATED_EXPORT void vramscope_simulated_count(int64_t count) { told_count = count; }
SIMULATED_EXPORT int vramscope_simulated_take_count(int64_t* count) {
  *count = std::exchange(told_count, -1);
  return *count < 0 ? kInvalidValue : kSuccess;
}

SIMULATED_EXPORT void vramscope_simulated_origin(const char* call, const void* caller) {
  announced = {call, caller};
}

SIMULATED_EXPORT int vramscope_simulated_clear(void* block, size_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(block);
  const int device = DeviceOf(address);
  if (device < 0) return 0;
  Region& region = DeviceNumber(device).region();
  if (region.Contains(address, bytes)) region.Clear(address, bytes);
  return 1;
}

SIMULATED_EXPORT size_t vramscope_simulated_used_bytes(int device) {
  return IsInMachine(device) ? TheSharedUse().UsedBytes(device) : 0;
}

SIMULATED_EXPORT size_t vramscope_simulated_processes(int device, unsigned* pids, size_t* bytes,
                                                      size_t most) {
  static constexpr size_t kMost = 128;
  vramscope::trace::PeakShare shares[kMost];
  const size_t count =
      IsInMachine(device) ? TheSharedUse().Processes(device, shares, most < kMost ? most : kMost) : 0;
  for (size_t i = 0; i < count; ++i) {
    pids[i] = shares[i].process.pid;
    bytes[i] = shares[i].bytes;
  }
  return count;
}
