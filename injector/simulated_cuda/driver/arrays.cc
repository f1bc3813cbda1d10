// SPDX-License-Identifier: Apache-2.0
// CUDA arrays, and memory of other interfaces (Vulkan and the like). Nothing reads them here, but they take
// memory and addresses.
#include "injector/simulated_cuda/driver/arrays.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/driver/context.h"

using namespace vramscope::simulated;

namespace {

// CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR
struct Flat {
  size_t width, height;
  int format;
  unsigned channels;
};
struct Deep {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

// CUarray_format
size_t TexelBytes(int format, unsigned channels) {
  switch (format) {
    case 0x02:
    case 0x09:
    case 0x10:
      return size_t{2} * channels;
    case 0x03:
    case 0x0a:
    case 0x20:
      return size_t{4} * channels;
    default:
      return channels;
  }
}

int Make(void** array, size_t texels, size_t texel_bytes, const Origin& origin) {
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  uint64_t address = 0;
  const int error = DeviceNumber(device).Allocate(texels * texel_bytes, origin, &address);
  *array = reinterpret_cast<void*>(address);
  return error;
}

int Destroy(void* array) {
  const auto address = reinterpret_cast<uint64_t>(array);
  const int device = DeviceOf(address);
  return device < 0 ? kInvalidHandle : DeviceNumber(device).Free(address);
}

size_t Extent(size_t value) { return std::max<size_t>(value, 1); }

// CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUDA_EXTERNAL_MEMORY_BUFFER_DESC
struct ExternalDescriptor {
  int type;
  void* handle[2];
  unsigned long long bytes;
};
struct BufferDescriptor {
  unsigned long long offset, bytes;
};
struct External {
  unsigned long long bytes;
};

struct Mapped {
  int device;
  uint64_t bytes;
};
std::mutex mapping;
std::map<uint64_t, Mapped>& Mappings() {
  static auto* const mappings = new std::map<uint64_t, Mapped>;
  return *mappings;
}

}  // namespace

bool vramscope::simulated::UnmapExternal(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mapping);
  const auto found = Mappings().find(address);
  if (found == Mappings().end()) return false;
  DeviceNumber(found->second.device).GiveAddresses(address, found->second.bytes);
  Mappings().erase(found);
  return true;
}

SIMULATED_EXPORT int cuArrayCreate_v2(void** array, const Flat* flat) {
  return Make(array, Extent(flat->width) * Extent(flat->height), TexelBytes(flat->format, flat->channels),
              SIMULATED_ORIGIN());
}
SIMULATED_EXPORT int cuArray3DCreate_v2(void** array, const Deep* deep) {
  return Make(array, Extent(deep->width) * Extent(deep->height) * Extent(deep->depth),
              TexelBytes(deep->format, deep->channels), SIMULATED_ORIGIN());
}
SIMULATED_EXPORT int cuMipmappedArrayCreate(void** array, const Deep* deep, unsigned levels) {
  size_t texels = 0;
  for (unsigned level = 0; level < levels; ++level)
    texels += Extent(deep->width >> level) * Extent(deep->height >> level) * Extent(deep->depth >> level);
  return Make(array, texels, TexelBytes(deep->format, deep->channels), SIMULATED_ORIGIN());
}
SIMULATED_EXPORT int cuArrayDestroy(void* array) { return Destroy(array); }
SIMULATED_EXPORT int cuMipmappedArrayDestroy(void* array) { return Destroy(array); }

SIMULATED_EXPORT int cuImportExternalMemory(External** memory, const ExternalDescriptor* descriptor) {
  *memory = new External{descriptor->bytes};
  return kSuccess;
}
SIMULATED_EXPORT int cuExternalMemoryGetMappedBuffer(DevicePointer* pointer, const External* memory,
                                                     const BufferDescriptor* buffer) {
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  if (buffer->offset + buffer->bytes > memory->bytes) return kInvalidValue;
  const uint64_t whole = (buffer->bytes + kGranule - 1) / kGranule * kGranule;
  *pointer = DeviceNumber(device).ReserveAddresses(whole, 0, 0);
  if (*pointer == 0) return kOutOfMemory;
  const std::lock_guard<std::mutex> lock(mapping);
  Mappings()[*pointer] = {device, whole};
  return kSuccess;
}
SIMULATED_EXPORT int cuDestroyExternalMemory(External* memory) {
  delete memory;
  return kSuccess;
}
