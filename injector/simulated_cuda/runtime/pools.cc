// SPDX-License-Identifier: Apache-2.0
// cudaMallocAsync and cudaMemPool*.
#include "injector/simulated_cuda/runtime/call.h"

using namespace vramscope::simulated;

namespace {

uint64_t* Out(void** pointer) { return reinterpret_cast<uint64_t*>(pointer); }

}  // namespace

SIMULATED_EXPORT int cudaMallocAsync(void** pointer, size_t bytes, void* stream) {
  SIMULATED_CALL();
  ON_DEVICE(cuMemAllocAsync(Out(pointer), bytes, stream));
}
SIMULATED_EXPORT int cudaMallocFromPoolAsync(void** pointer, size_t bytes, void* pool, void* stream) {
  SIMULATED_CALL();
  ON_DEVICE(cuMemAllocFromPoolAsync(Out(pointer), bytes, pool, stream));
}
SIMULATED_EXPORT int cudaFreeAsync(void* pointer, void* stream) {
  ON_DEVICE(cuMemFreeAsync(Address(pointer), stream));
}
SIMULATED_EXPORT int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  WITH_DRIVER(cuDeviceGetDefaultMemPool(pool, device));
}
SIMULATED_EXPORT int cudaDeviceGetMemPool(void** pool, int device) {
  WITH_DRIVER(cuDeviceGetMemPool(pool, device));
}
SIMULATED_EXPORT int cudaDeviceSetMemPool(int device, void* pool) {
  WITH_DRIVER(cuDeviceSetMemPool(device, pool));
}
SIMULATED_EXPORT int cudaMemPoolCreate(void** pool, const void* properties) {
  WITH_DRIVER(cuMemPoolCreate(pool, properties));
}
SIMULATED_EXPORT int cudaMemPoolDestroy(void* pool) { WITH_DRIVER(cuMemPoolDestroy(pool)); }
SIMULATED_EXPORT int cudaMemPoolTrimTo(void* pool, size_t keep) { WITH_DRIVER(cuMemPoolTrimTo(pool, keep)); }
SIMULATED_EXPORT int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  WITH_DRIVER(cuMemPoolGetAttribute(pool, attribute, value));
}
SIMULATED_EXPORT int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  WITH_DRIVER(cuMemPoolSetAttribute(pool, attribute, value));
}
SIMULATED_EXPORT int cudaMemPoolSetAccess(void* pool, const void* list, size_t count) {
  WITH_DRIVER(cuMemPoolSetAccess(pool, list, count));
}
SIMULATED_EXPORT int cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  WITH_DRIVER(cuDeviceGetGraphMemAttribute(device, attribute, value));
}
SIMULATED_EXPORT int cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  WITH_DRIVER(cuDeviceSetGraphMemAttribute(device, attribute, value));
}
SIMULATED_EXPORT int cudaDeviceGraphMemTrim(int) { return kSuccess; }
