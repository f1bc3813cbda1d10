// SPDX-License-Identifier: Apache-2.0
// cuMemCreate, cuMemAddressReserve, cuMemMap: expandable segments are built from these.
#include "injector/simulated_cuda/device/virtual_memory.h"

#include "injector/simulated_cuda/driver/context.h"

using namespace vramscope::simulated;

namespace {

constexpr int kOnDevice = 1;
constexpr int kPosixFileDescriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

}  // namespace

SIMULATED_EXPORT int cuMemGetAllocationGranularity(size_t* granularity, const AllocationProperties*, int) {
  *granularity = kGranule;
  return kSuccess;
}

SIMULATED_EXPORT int cuMemCreate(PhysicalHandle* handle, size_t bytes, const AllocationProperties* properties,
                                 unsigned long long) {
  if (properties->location.type != kOnDevice) return kNotSupported;
  if (!IsDevice(properties->location.id)) return kInvalidDevice;
  return TheVirtualMemory().Create(properties->location.id, bytes, SIMULATED_ORIGIN(), handle);
}

SIMULATED_EXPORT int cuMemRelease(PhysicalHandle handle) { return TheVirtualMemory().Release(handle); }

SIMULATED_EXPORT int cuMemAddressReserve(DevicePointer* pointer, size_t bytes, size_t alignment,
                                         DevicePointer wanted, unsigned long long) {
  const int device = CurrentDevice();
  return TheVirtualMemory().Reserve(device < 0 ? 0 : device, bytes, alignment, wanted, pointer);
}

SIMULATED_EXPORT int cuMemAddressFree(DevicePointer pointer, size_t bytes) {
  return TheVirtualMemory().FreeAddresses(pointer, bytes);
}

SIMULATED_EXPORT int cuMemMap(DevicePointer pointer, size_t bytes, size_t offset, PhysicalHandle handle,
                              unsigned long long) {
  return offset != 0 ? kInvalidValue : TheVirtualMemory().Map(pointer, bytes, handle);
}

SIMULATED_EXPORT int cuMemUnmap(DevicePointer pointer, size_t bytes) {
  return TheVirtualMemory().Unmap(pointer, bytes);
}

SIMULATED_EXPORT int cuMemSetAccess(DevicePointer, size_t, const AccessDescription*, size_t) {
  return kSuccess;
}

SIMULATED_EXPORT int cuMemGetAccess(unsigned long long* flags, const MemoryLocation*, DevicePointer) {
  *flags = 3;  // read and write
  return kSuccess;
}

SIMULATED_EXPORT int cuMemRetainAllocationHandle(PhysicalHandle* handle, void* address) {
  return TheVirtualMemory().Retain(reinterpret_cast<uint64_t>(address), handle);
}

SIMULATED_EXPORT int cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties,
                                                            PhysicalHandle handle) {
  const int device = TheVirtualMemory().DeviceOfHandle(handle);
  if (device < 0) return kInvalidValue;
  *properties = {};
  properties->type = 1;
  properties->location = {kOnDevice, device};
  return kSuccess;
}

// ---- memory of another process, which hands over a file descriptor; there are no fabric handles here

SIMULATED_EXPORT int cuMemExportToShareableHandle(void* shareable, PhysicalHandle handle, int type,
                                                  unsigned long long) {
  if (type != kPosixFileDescriptor) return kNotSupported;
  return TheVirtualMemory().Export(handle, static_cast<int*>(shareable));
}
SIMULATED_EXPORT int cuMemImportFromShareableHandle(PhysicalHandle* handle, void* shareable, int type) {
  if (type != kPosixFileDescriptor) return kNotSupported;
  return TheVirtualMemory().Import(static_cast<int>(reinterpret_cast<intptr_t>(shareable)), handle);
}
