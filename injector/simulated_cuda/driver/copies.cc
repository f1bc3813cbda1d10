// SPDX-License-Identifier: Apache-2.0
// cuMemcpy*, cuMemset*.
#include "injector/simulated_cuda/driver/copies.h"

#include <cstring>

#include "injector/simulated_cuda/driver/context.h"
#include "injector/simulated_cuda/driver/private_calls.h"

namespace vramscope::simulated {
namespace {

bool LeavesDevice(int device, uint64_t address, uint64_t bytes) {
  return device >= 0 && !DeviceNumber(device).region().Contains(address, bytes);
}

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

int Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return kSuccess;
  const int device = DeviceOf(to);
  if (LeavesDevice(device, to, bytes) || LeavesDevice(DeviceOf(from), from, bytes)) return kInvalidValue;
  if (device >= 0) {
    if (bytes > TheSettings().copy_limit) return kSuccess;
    DeviceNumber(device).region().MarkWritten(to, bytes);
  }
  std::memmove(Pointer(to), Pointer(from), bytes);
  return kSuccess;
}

int Fill(uint64_t to, uint32_t value, unsigned width, uint64_t count) {
  const uint64_t bytes = count * width;
  if (bytes == 0) return kSuccess;
  const int device = DeviceOf(to);
  if (LeavesDevice(device, to, bytes)) return kInvalidValue;
  if (device >= 0 && value == 0) {
    DeviceNumber(device).region().Clear(to, bytes);
    return kSuccess;
  }
  if (device >= 0) {
    if (bytes > TheSettings().copy_limit) return kSuccess;
    DeviceNumber(device).region().MarkWritten(to, bytes);
  }
  auto* const begin = static_cast<unsigned char*>(Pointer(to));
  for (uint64_t i = 0; i < count; ++i) std::memcpy(begin + i * width, &value, width);
  return kSuccess;
}

namespace {

// Work on a stream; while the stream captures, it is only noted.
template <typename Act>
int OnStream(void* handle, NodeType type, bool downloads, Act act) {
  Stream* const stream = StreamOf(handle);
  const bool capturing = TheStreams().CaptureOf(stream).status != CaptureStatus::kNone;
  if (const int error = TheStreams().Issue(stream, type, downloads)) return error;
  return capturing ? static_cast<int>(kSuccess) : act();
}

int CopyOn(void* stream, uint64_t to, uint64_t from, uint64_t bytes) {
  const bool downloads = DeviceOf(to) < 0 && DeviceOf(from) >= 0;
  return OnStream(stream, NodeType::kCopy, downloads, [&] { return Copy(to, from, bytes); });
}

int FillOn(void* stream, uint64_t to, uint32_t value, unsigned width, uint64_t count) {
  return OnStream(stream, NodeType::kSet, false, [&] { return Fill(to, value, width, count); });
}

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// CUDA_MEMCPY2D
struct Copy2d {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  DevicePointer from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  DevicePointer to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
};

int CopyRows(const Copy2d& copy) {
  const uint64_t from =
      copy.from_type == static_cast<int>(MemoryType::kHost) ? Address(copy.from_host) : copy.from_device;
  const uint64_t to =
      copy.to_type == static_cast<int>(MemoryType::kHost) ? Address(copy.to_host) : copy.to_device;
  for (size_t row = 0; row < copy.height; ++row) {
    const int error = Copy(to + copy.to_x + (copy.to_y + row) * copy.to_pitch,
                           from + copy.from_x + (copy.from_y + row) * copy.from_pitch, copy.width);
    if (error != kSuccess) return error;
  }
  return kSuccess;
}

}  // namespace
}  // namespace vramscope::simulated

using namespace vramscope::simulated;

SIMULATED_EXPORT int vramscope_simulated_write(void* to, const void* from, size_t bytes) {
  return Copy(Address(to), Address(from), bytes);
}

SIMULATED_EXPORT void vramscope_simulated_written(void* to, size_t bytes) {
  const uint64_t address = Address(to);
  const int device = DeviceOf(address);
  if (bytes != 0 && device >= 0 && !LeavesDevice(device, address, bytes))
    DeviceNumber(device).region().MarkWritten(address, bytes);
}

// A copy that the host waits for also waits for the work before it.
#define SYNCHRONOUS(work) \
  const int error = work; \
  return error != kSuccess ? error : TheStreams().Synchronize(StreamOf(nullptr))

SIMULATED_EXPORT int cuMemcpy(DevicePointer to, DevicePointer from, size_t bytes) {
  SYNCHRONOUS(CopyOn(nullptr, to, from, bytes));
}
SIMULATED_EXPORT int cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
  SYNCHRONOUS(CopyOn(nullptr, to, Address(from), bytes));
}
SIMULATED_EXPORT int cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
  SYNCHRONOUS(CopyOn(nullptr, Address(to), from, bytes));
}
SIMULATED_EXPORT int cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, size_t bytes) {
  return CopyOn(nullptr, to, from, bytes);
}
SIMULATED_EXPORT int cuMemcpyPeer(DevicePointer to, void*, DevicePointer from, void*, size_t bytes) {
  return CopyOn(nullptr, to, from, bytes);
}

SIMULATED_EXPORT int cuMemcpyAsync(DevicePointer to, DevicePointer from, size_t bytes, void* stream) {
  return CopyOn(stream, to, from, bytes);
}
SIMULATED_EXPORT int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, void* stream) {
  return CopyOn(stream, to, Address(from), bytes);
}
SIMULATED_EXPORT int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, void* stream) {
  return CopyOn(stream, Address(to), from, bytes);
}
SIMULATED_EXPORT int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, void* stream) {
  return CopyOn(stream, to, from, bytes);
}
SIMULATED_EXPORT int cuMemcpyPeerAsync(DevicePointer to, void*, DevicePointer from, void*, size_t bytes,
                                       void* stream) {
  return CopyOn(stream, to, from, bytes);
}

SIMULATED_EXPORT int cuMemcpy2DAsync_v2(const Copy2d* copy, void* stream) {
  return OnStream(stream, NodeType::kCopy, false, [&] { return CopyRows(*copy); });
}
SIMULATED_EXPORT int cuMemcpy2D_v2(const Copy2d* copy) { SYNCHRONOUS(cuMemcpy2DAsync_v2(copy, nullptr)); }

SIMULATED_EXPORT int cuMemsetD8_v2(DevicePointer to, unsigned char value, size_t count) {
  return FillOn(nullptr, to, value, 1, count);
}
SIMULATED_EXPORT int cuMemsetD16_v2(DevicePointer to, unsigned short value, size_t count) {
  return FillOn(nullptr, to, value, 2, count);
}
SIMULATED_EXPORT int cuMemsetD32_v2(DevicePointer to, unsigned value, size_t count) {
  return FillOn(nullptr, to, value, 4, count);
}
SIMULATED_EXPORT int cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count, void* stream) {
  return FillOn(stream, to, value, 1, count);
}
SIMULATED_EXPORT int cuMemsetD16Async(DevicePointer to, unsigned short value, size_t count, void* stream) {
  return FillOn(stream, to, value, 2, count);
}
SIMULATED_EXPORT int cuMemsetD32Async(DevicePointer to, unsigned value, size_t count, void* stream) {
  return FillOn(stream, to, value, 4, count);
}
