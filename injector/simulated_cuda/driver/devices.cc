// SPDX-License-Identifier: Apache-2.0
// cuInit, cuDevice*, cuCtx*: which devices there are, and which one a thread uses.
#include <cstdio>
#include <cstring>

#include "injector/simulated_cuda/driver/context.h"

using namespace vramscope::simulated;

namespace {

constexpr int kDriverVersion = 13020;  // at least that of any wheel: a driver runs all older runtimes

// The same in every process, so that ranks find each other's device.
Uuid UuidOf(int device) {
  Uuid uuid = {};
  std::memcpy(uuid.bytes, "vramscope-gpu-", 14);
  uuid.bytes[15] = static_cast<unsigned char>(PhysicalNumber(device) + 1);
  return uuid;
}

int NotWithoutDevice(int device) { return IsDevice(device) ? kSuccess : kInvalidDevice; }

}  // namespace

SIMULATED_EXPORT int cuInit(unsigned) { return TheSettings().devices > 0 ? kSuccess : kNoDevice; }

SIMULATED_EXPORT int cuDriverGetVersion(int* version) {
  *version = kDriverVersion;
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return NotWithoutDevice(ordinal);
}

SIMULATED_EXPORT int cuDeviceGetCount(int* count) {
  *count = TheSettings().devices;
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceGetName(char* name, int capacity, int device) {
  if (!IsDevice(device) || capacity <= 0) return kInvalidValue;
  std::snprintf(name, static_cast<size_t>(capacity), "%s", TheSettings().gpu->product);
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceGetUuid_v2(Uuid* uuid, int device) {
  *uuid = UuidOf(device);
  return NotWithoutDevice(device);
}

SIMULATED_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = TheSettings().capacity;
  return NotWithoutDevice(device);
}

SIMULATED_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (!IsDevice(device)) return kInvalidDevice;
  *value = AttributeOf(*TheSettings().gpu, PhysicalNumber(device), attribute);
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceComputeCapability(int* major, int* minor, int device) {
  *major = TheSettings().gpu->major;
  *minor = TheSettings().gpu->minor;
  return NotWithoutDevice(device);
}

SIMULATED_EXPORT int cuDeviceGetPCIBusId(char* text, int capacity, int device) {
  if (!IsDevice(device) || capacity <= 0) return kInvalidValue;
  std::snprintf(text, static_cast<size_t>(capacity), "0000:%02X:00.0", PhysicalNumber(device) + 1);
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceGetByPCIBusId(int* device, const char* text) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return kInvalidValue;
  *device = VisibleNumber(static_cast<int>(bus) - 1);
  return NotWithoutDevice(*device);
}

SIMULATED_EXPORT int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!IsDevice(device) || !IsDevice(peer)) return kInvalidDevice;
  *can = device != peer;
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceGetP2PAttribute(int* value, int attribute, int, int) {
  *value = attribute == 2 || attribute == 3;  // access and native atomics; no performance rank, no arrays
  return kSuccess;
}

// ---- contexts

SIMULATED_EXPORT int cuDevicePrimaryCtxRetain(Context** context, int device) {
  if (const int error = ActivateDevice(device, context)) return error;
  (*context)->retained++;
  return kSuccess;
}

SIMULATED_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) { return NotWithoutDevice(device); }
SIMULATED_EXPORT int cuDevicePrimaryCtxReset_v2(int device) { return NotWithoutDevice(device); }
SIMULATED_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) { return NotWithoutDevice(device); }

SIMULATED_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (!IsDevice(device)) return kInvalidDevice;
  *flags = 0;
  *active = IsActive(device);
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxCreate_v2(Context** context, unsigned, int device) {
  if (const int error = CreateContext(device, context)) return error;
  SetCurrentContext(*context);
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxCreate_v3(Context** context, void*, int, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}
SIMULATED_EXPORT int cuCtxCreate_v4(Context** context, void*, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}

SIMULATED_EXPORT int cuCtxDestroy_v2(Context* context) {
  if (context == nullptr) return kInvalidContext;
  DestroyContext(context);
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxGetCurrent(Context** context) {
  *context = CurrentContext();
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxSetCurrent(Context* context) {
  SetCurrentContext(context);
  return kSuccess;
}

namespace {

constexpr int kMostPushed = 64;
thread_local Context* pushed[kMostPushed];
thread_local int pushed_count = 0;

}  // namespace

SIMULATED_EXPORT int cuCtxPushCurrent_v2(Context* context) {
  if (pushed_count == kMostPushed) return kInvalidValue;
  pushed[pushed_count++] = CurrentContext();
  SetCurrentContext(context);
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxPopCurrent_v2(Context** context) {
  if (context != nullptr) *context = CurrentContext();
  SetCurrentContext(pushed_count > 0 ? pushed[--pushed_count] : nullptr);
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxGetDevice(int* device) {
  *device = CurrentDevice();
  return *device < 0 ? kInvalidContext : kSuccess;
}

SIMULATED_EXPORT int cuCtxSynchronize() {
  TheStreams().SynchronizeAll();
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxGetApiVersion(Context*, unsigned* version) {
  *version = kDriverVersion;
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxGetFlags(unsigned* flags) {
  *flags = 0;
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxEnablePeerAccess(Context*, unsigned) { return kSuccess; }
SIMULATED_EXPORT int cuCtxDisablePeerAccess(Context*) { return kSuccess; }
