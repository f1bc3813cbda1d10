// SPDX-License-Identifier: Apache-2.0
// Events of device memory, host memory, and memory imported from other owners.
#include "injector/cuda/driver_events.h"
#include "injector/cuda/driver_questions.h"
#include "injector/cuda/driver_records.h"
#include "injector/cuda/driver_totals.h"

namespace vramscope::injector::driver {
namespace {

using trace::DriverMemory;

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void Taken(const DriverCall& call, DriverMemory kind, uint64_t address, uint64_t bytes) {
  RecordTaken(call, {.kind = kind, .address = address, .bytes = bytes, .device = CurrentDeviceCode()});
}

// CUarray_format: bytes of one channel; 0 for formats without channels.
uint64_t BytesOfChannel(int format) {
  switch (format) {
    case 0x01:  // 8 bits
    case 0x08:
      return 1;
    case 0x02:  // 16 bits
    case 0x09:
    case 0x10:
      return 2;
    case 0x03:  // 32 bits
    case 0x0a:
    case 0x20:
      return 4;
    default:
      return 0;
  }
}

uint64_t AtLeastOne(uint64_t extent) { return extent == 0 ? 1 : extent; }

// The texels of all levels. How the driver pads them is not documented.
uint64_t ArrayBytes(const Array3dDescriptor& array, unsigned levels) {
  constexpr unsigned kCubemap = 4, kLayered = 1;  // then depth counts layers, which do not shrink
  const bool layers = (array.flags & (kCubemap | kLayered)) != 0;
  uint64_t width = AtLeastOne(array.width), height = AtLeastOne(array.height),
           depth = AtLeastOne(array.depth);
  uint64_t texels = 0;
  for (unsigned level = 0; level < levels; ++level) {
    texels += width * height * depth;
    width = AtLeastOne(width / 2);
    height = AtLeastOne(height / 2);
    if (!layers) depth = AtLeastOne(depth / 2);
  }
  return texels * array.channels * BytesOfChannel(array.format);
}

}  // namespace

void TakesDevice::After(DriverCall& call, const DevicePtr* pointer, size_t bytes) {
  Taken(call, DriverMemory::kDevice, *pointer, bytes);
  RecordDeviceTotalSometimes();
}

void TakesDevice::After(DriverCall& call, const DevicePtr* pointer, const size_t* pitch, size_t,
                        size_t height, unsigned) {
  Taken(call, DriverMemory::kDevice, *pointer, *pitch * height);
  RecordDeviceTotalSometimes();
}

void TakesManaged::After(DriverCall& call, const DevicePtr* pointer, size_t bytes, unsigned) {
  Taken(call, DriverMemory::kManaged, *pointer, bytes);
  RecordDeviceTotalSometimes();
}

void TakesArray::After(DriverCall& call, const Handle* array, const ArrayDescriptor* flat) {
  const Array3dDescriptor descriptor = {flat->width, flat->height, 0, flat->format, flat->channels, 0};
  After(call, array, &descriptor);
}

void TakesArray::After(DriverCall& call, const Handle* array, const Array3dDescriptor* descriptor,
                       unsigned levels) {
  Taken(call, DriverMemory::kArray, Address(*array), ArrayBytes(*descriptor, levels));
  RecordDeviceTotalSometimes();
}

void TakesHost::After(DriverCall& call, void* const* memory, size_t bytes, unsigned) {
  Taken(call, DriverMemory::kHostPinned, Address(*memory), bytes);
}

void Registers::After(DriverCall& call, const void* memory, size_t bytes, unsigned) {
  Taken(call, DriverMemory::kHostRegistered, Address(memory), bytes);
}

void MapsForeign::After(DriverCall& call, const DevicePtr* pointer, const IpcHandle&, unsigned) {
  Taken(call, DriverMemory::kImported, *pointer, 0);
}

void MapsForeign::After(DriverCall& call, const DevicePtr* pointer, Handle, const ExternalBuffer* buffer) {
  Taken(call, DriverMemory::kImported, *pointer, buffer->bytes);
}

void MapsForeign::After(DriverCall& call, const DevicePtr* pointer, Handle, const void*) {
  Taken(call, DriverMemory::kImported, *pointer, 0);
}

void ImportsMemory::After(DriverCall& call, const Handle* memory, const ExternalMemory* descriptor) {
  Taken(call, DriverMemory::kReference, Address(*memory), descriptor->bytes);
}

void GivesBack::Note(DriverCall& call, DriverMemory kind, uint64_t address, uint64_t bytes) {
  RecordGiven(call, kind, address, bytes);
}

void GivesBack::Finish(const DriverCall& call, DriverMemory kind, uint64_t address) {
  if (call.result != kSuccess) RecordGiven(call, kind, address);
}

// Also called for memory of a pool, which goes back to the pool.
void GivesDevice::Before(DriverCall& call, DevicePtr pointer) {
  Handle const pool = pointer == 0 ? nullptr : PoolOfPointer(pointer);
  call.note[0] = Address(pool);
  Note(call, pool == nullptr ? DriverMemory::kDevice : DriverMemory::kPoolBlock, pointer);
}

void GivesDevice::After(DriverCall& call, DevicePtr pointer) {
  Finish(call, DriverMemory::kDevice, pointer);
  RecordPoolTotal(reinterpret_cast<Handle>(call.note[0]));
  RecordDeviceTotalSometimes();
}

}  // namespace vramscope::injector::driver
