// SPDX-License-Identifier: Apache-2.0
// cuMemAlloc, host memory, and queries about pointers.
#include "injector/simulated_cuda/device/host_memory.h"
#include "injector/simulated_cuda/device/ipc_memory.h"
#include "injector/simulated_cuda/device/virtual_memory.h"
#include "injector/simulated_cuda/driver/arrays.h"
#include "injector/simulated_cuda/driver/context.h"
#include "injector/simulated_cuda/driver/pools.h"

using namespace vramscope::simulated;

namespace {

int Allocate(DevicePointer* pointer, size_t bytes, const Origin& origin) {
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  return DeviceNumber(device).Allocate(bytes, origin, pointer);
}

// The range that contains the address: an allocation, a pool's, a reservation, or another process's memory.
bool FindRange(DevicePointer pointer, uint64_t* begin, uint64_t* bytes) {
  const int device = DeviceOf(pointer);
  if (device < 0) return TheHostMemory().Find(reinterpret_cast<void*>(pointer), begin, bytes);
  if (FindInPools(pointer, begin, bytes) || TheVirtualMemory().FindReservation(pointer, begin, bytes) ||
      TheIpcMemory().Find(pointer, begin, bytes))
    return true;
  const Allocation found = DeviceNumber(device).Find(pointer);
  *begin = found.address;
  *bytes = found.bytes;
  return found.address != 0;
}

}  // namespace

SIMULATED_EXPORT int cuMemAlloc_v2(DevicePointer* pointer, size_t bytes) {
  return Allocate(pointer, bytes, SIMULATED_ORIGIN());
}

// Managed memory is on the device as far as it fits. The host may access it at any time, so it must read what
// it wrote.
SIMULATED_EXPORT int cuMemAllocManaged(DevicePointer* pointer, size_t bytes, unsigned) {
  const int error = Allocate(pointer, bytes, SIMULATED_ORIGIN());
  if (error == kSuccess) DeviceNumber(CurrentDevice()).region().MarkWritten(*pointer, bytes);
  return error;
}

SIMULATED_EXPORT int cuMemAllocPitch_v2(DevicePointer* pointer, size_t* pitch, size_t width, size_t height,
                                        unsigned) {
  *pitch = (width + 511) / 512 * 512;
  return Allocate(pointer, *pitch * height, SIMULATED_ORIGIN());
}

SIMULATED_EXPORT int cuMemFree_v2(DevicePointer pointer) {
  if (pointer == 0) return kSuccess;
  const int device = DeviceOf(pointer);
  if (device < 0) return kInvalidValue;
  TheStreams().SynchronizeAll();  // it waits for the device, as CUDA's does
  if (FreeInPools(pointer) || UnmapExternal(pointer)) return kSuccess;
  TheIpcMemory().Forget(pointer);
  return DeviceNumber(device).Free(pointer);
}

SIMULATED_EXPORT int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  *free_bytes = DeviceNumber(device).free_bytes();
  *total = DeviceNumber(device).capacity();
  return kSuccess;
}

SIMULATED_EXPORT int cuMemGetAddressRange_v2(DevicePointer* begin, size_t* bytes, DevicePointer pointer) {
  uint64_t found = 0, size = 0;
  if (!FindRange(pointer, &found, &size)) return kNotFound;
  if (begin != nullptr) *begin = found;
  if (bytes != nullptr) *bytes = size;
  return kSuccess;
}

SIMULATED_EXPORT int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = bytes != 0 ? TheHostMemory().Allocate(bytes) : nullptr;
  return *memory != nullptr || bytes == 0 ? kSuccess : kOutOfMemory;
}

SIMULATED_EXPORT int cuMemAllocHost_v2(void** memory, size_t bytes) {
  return cuMemHostAlloc(memory, bytes, 0);
}

SIMULATED_EXPORT int cuMemFreeHost(void* memory) {
  TheStreams().SynchronizeAll();
  return memory == nullptr || TheHostMemory().Free(memory) ? kSuccess : kInvalidValue;
}

SIMULATED_EXPORT int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned) {
  constexpr int kAlreadyRegistered = 712;
  return TheHostMemory().Register(memory, bytes) ? kSuccess : kAlreadyRegistered;
}

SIMULATED_EXPORT int cuMemHostUnregister(void* memory) {
  constexpr int kNotRegistered = 713;
  return TheHostMemory().Unregister(memory) ? kSuccess : kNotRegistered;
}

SIMULATED_EXPORT int cuMemHostGetDevicePointer_v2(DevicePointer* pointer, void* memory, unsigned) {
  *pointer = reinterpret_cast<DevicePointer>(memory);
  return kSuccess;
}

SIMULATED_EXPORT int cuMemHostGetFlags(unsigned* flags, void*) {
  *flags = 0;
  return kSuccess;
}

// ---- CU_POINTER_ATTRIBUTE_*

SIMULATED_EXPORT int cuPointerGetAttribute(void* value, int attribute, DevicePointer pointer) {
  enum {
    kContext = 1,
    kMemoryType = 2,
    kDevicePointer = 3,
    kHostPointer = 4,
    kBufferId = 7,
    kIsManaged = 8,
    kOrdinal = 9,
    kRangeStart = 11,
    kRangeSize = 12,
    kPool = 17,
  };
  uint64_t begin = 0, bytes = 0;
  const int device = DeviceOf(pointer);
  const bool known = FindRange(pointer, &begin, &bytes);
  if (!known && device < 0) return kInvalidValue;
  switch (attribute) {
    case kContext:
      return ActivateDevice(device < 0 ? 0 : device, static_cast<Context**>(value));
    case kMemoryType:
      *static_cast<int*>(value) = device >= 0 ? 2 : 1;
      return kSuccess;
    case kDevicePointer:
    case kHostPointer:
      *static_cast<uint64_t*>(value) = pointer;
      return kSuccess;
    case kBufferId:
      *static_cast<uint64_t*>(value) = begin / kGranule;
      return kSuccess;
    case kIsManaged:
      *static_cast<unsigned*>(value) = 0;
      return kSuccess;
    case kOrdinal:
      *static_cast<int*>(value) = device < 0 ? 0 : device;
      return kSuccess;
    case kRangeStart:
      *static_cast<uint64_t*>(value) = begin;
      return kSuccess;
    case kRangeSize:
      *static_cast<size_t*>(value) = bytes;
      return kSuccess;
    case kPool:
      *static_cast<void**>(value) = PoolOf(pointer);
      return kSuccess;
    default:
      return kNotSupported;
  }
}

SIMULATED_EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                            DevicePointer pointer) {
  for (unsigned i = 0; i < count; ++i) {
    if (cuPointerGetAttribute(values[i], attributes[i], pointer) != kSuccess)
      *static_cast<int*>(values[i]) = 0;
  }
  return kSuccess;
}

SIMULATED_EXPORT int cuPointerSetAttribute(const void*, int, DevicePointer) { return kSuccess; }

// ---- memory of another process

// Only for cuMemAlloc: pools and reserved addresses are shared in other ways.
SIMULATED_EXPORT int cuIpcGetMemHandle(IpcHandle* handle, DevicePointer pointer) {
  uint64_t begin = 0, bytes = 0;
  if (FindInPools(pointer, &begin, &bytes) || TheVirtualMemory().FindReservation(pointer, &begin, &bytes))
    return kInvalidValue;
  return TheIpcMemory().Export(pointer, handle);
}
SIMULATED_EXPORT int cuIpcOpenMemHandle_v2(DevicePointer* pointer, IpcHandle handle, unsigned) {
  return TheIpcMemory().Open(handle, pointer);
}
SIMULATED_EXPORT int cuIpcCloseMemHandle(DevicePointer pointer) {
  TheStreams().SynchronizeAll();
  return TheIpcMemory().Close(pointer);
}
