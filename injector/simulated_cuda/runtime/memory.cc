// SPDX-License-Identifier: Apache-2.0
// cudaMalloc, cudaMemcpy, cudaMemset, and queries about pointers.
#include <cstring>

#include "injector/simulated_cuda/runtime/call.h"
#include "injector/simulated_cuda/runtime/comparisons.h"
#include "injector/simulated_cuda/runtime/host_reads.h"

using namespace vramscope::simulated;

namespace {

uint64_t* Out(void** pointer) { return reinterpret_cast<uint64_t*>(pointer); }

// cudaPointerAttributes; CUDA 13 added the tail.
struct PointerAttributes {
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
#if SIMULATED_CUDA_ABI >= 13
  long reserved[8];
#endif
};

constexpr int kNoDeviceOfPointer = -2;  // cudaInvalidDeviceId

int CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
             void* stream) {
  for (size_t row = 0; row < height; ++row) {
    const int error = TheDriver()->cuMemcpyAsync(Address(to) + row * to_pitch,
                                                 Address(from) + row * from_pitch, width, stream);
    if (error != kSuccess) return error;
  }
  return kSuccess;
}

constexpr int kDeviceToHost = 2, kDeviceToDevice = 3;

int Copied(int error, void* to, const void* from, size_t bytes, int kind) {
  if (error == kSuccess && kind == kDeviceToHost) NoteHostRead(to, bytes);
  if (error == kSuccess && kind == kDeviceToDevice) NoteDeviceCopy(to, from, bytes);
  return Keep(error);
}

}  // namespace

SIMULATED_EXPORT int cudaMalloc(void** pointer, size_t bytes) {
  SIMULATED_CALL();
  if (bytes == 0) {  // unlike the driver, the runtime accepts 0 bytes and returns nullptr
    *pointer = nullptr;
    return kSuccess;
  }
  ON_DEVICE(cuMemAlloc(Out(pointer), bytes));
}

SIMULATED_EXPORT int cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  SIMULATED_CALL();
  ON_DEVICE(cuMemAllocManaged(Out(pointer), bytes, flags));
}

SIMULATED_EXPORT int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  SIMULATED_CALL();
  ON_DEVICE(cuMemAllocPitch(Out(pointer), pitch, width, height, 4));
}

SIMULATED_EXPORT int cudaFree(void* pointer) { ON_DEVICE(cuMemFree(Address(pointer))); }
SIMULATED_EXPORT int cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  ON_DEVICE(cuMemGetInfo(free_bytes, total));
}

SIMULATED_EXPORT int cudaHostAlloc(void** memory, size_t bytes, unsigned flags) {
  ON_DEVICE(cuMemHostAlloc(memory, bytes, flags));
}
SIMULATED_EXPORT int cudaMallocHost(void** memory, size_t bytes) {
  ON_DEVICE(cuMemHostAlloc(memory, bytes, 0));
}
SIMULATED_EXPORT int cudaFreeHost(void* memory) { ON_DEVICE(cuMemFreeHost(memory)); }
SIMULATED_EXPORT int cudaHostRegister(void* memory, size_t bytes, unsigned flags) {
  ON_DEVICE(cuMemHostRegister(memory, bytes, flags));
}
SIMULATED_EXPORT int cudaHostUnregister(void* memory) { ON_DEVICE(cuMemHostUnregister(memory)); }
SIMULATED_EXPORT int cudaHostGetDevicePointer(void** pointer, void* memory, unsigned) {
  *pointer = memory;
  return kSuccess;
}

// ---- copies: the direction is in the pointers

SIMULATED_EXPORT int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  if (const int error = UseDevice()) return Keep(error);
  return Copied(TheDriver()->cuMemcpy(Address(to), Address(from), bytes), to, from, bytes, kind);
}
SIMULATED_EXPORT int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  if (const int error = UseDevice()) return Keep(error);
  return Copied(TheDriver()->cuMemcpyAsync(Address(to), Address(from), bytes, stream), to, from, bytes, kind);
}
SIMULATED_EXPORT int cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  ON_DEVICE(cuMemcpy(Address(to), Address(from), bytes));
}
SIMULATED_EXPORT int cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, void* stream) {
  ON_DEVICE(cuMemcpyAsync(Address(to), Address(from), bytes, stream));
}

SIMULATED_EXPORT int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                       size_t width, size_t height, int, void* stream) {
  if (const int error = UseDevice()) return Keep(error);
  return Keep(CopyRows(to, to_pitch, from, from_pitch, width, height, stream));
}

SIMULATED_EXPORT int cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                  size_t width, size_t height, int kind) {
  const int error = cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
  return error != kSuccess ? error : Keep(TheDriver()->cuStreamSynchronize(nullptr));
}

SIMULATED_EXPORT int cudaMemset(void* to, int value, size_t count) {
  ON_DEVICE(cuMemsetD8(Address(to), static_cast<unsigned char>(value), count));
}
SIMULATED_EXPORT int cudaMemsetAsync(void* to, int value, size_t count, void* stream) {
  ON_DEVICE(cuMemsetD8Async(Address(to), static_cast<unsigned char>(value), count, stream));
}
SIMULATED_EXPORT int cudaMemPrefetchAsync(const void*) { return kSuccess; }
SIMULATED_EXPORT int cudaMemAdvise(const void*) { return kSuccess; }

SIMULATED_EXPORT int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  constexpr int kMemoryType = 2, kOrdinal = 9;
  std::memset(static_cast<void*>(attributes), 0, sizeof(*attributes));
  attributes->device = kNoDeviceOfPointer;
  attributes->host_pointer = const_cast<void*>(pointer);
  int type = 0;
  // A pointer unknown to CUDA is not an error: it is ordinary host memory.
  if (TheDriver() == nullptr ||
      TheDriver()->cuPointerGetAttribute(&type, kMemoryType, Address(pointer)) != kSuccess)
    return kSuccess;
  TheDriver()->cuPointerGetAttribute(&attributes->device, kOrdinal, Address(pointer));
  attributes->type = static_cast<MemoryType>(type);
  attributes->device_pointer = const_cast<void*>(pointer);
  if (attributes->type == MemoryType::kDevice) attributes->host_pointer = nullptr;
  return kSuccess;
}

SIMULATED_EXPORT int cudaIpcGetMemHandle(IpcHandle* handle, void* pointer) {
  ON_DEVICE(cuIpcGetMemHandle(handle, Address(pointer)));
}
SIMULATED_EXPORT int cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned flags) {
  ON_DEVICE(cuIpcOpenMemHandle(Out(pointer), handle, flags));
}
SIMULATED_EXPORT int cudaIpcCloseMemHandle(void* pointer) {
  ON_DEVICE(cuIpcCloseMemHandle(Address(pointer)));
}
SIMULATED_EXPORT int cudaIpcGetEventHandle(IpcHandle* handle, void* event) {
  ON_DEVICE(cuIpcGetEventHandle(handle, event));
}
SIMULATED_EXPORT int cudaIpcOpenEventHandle(void** event, IpcHandle handle) {
  ON_DEVICE(cuIpcOpenEventHandle(event, handle));
}
