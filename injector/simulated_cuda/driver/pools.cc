// SPDX-License-Identifier: Apache-2.0
// cuMemAllocAsync and cuMemPool*: stream-ordered memory.
#include "injector/simulated_cuda/driver/pools.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "injector/simulated_cuda/device/memory_pool.h"
#include "injector/simulated_cuda/driver/context.h"

using namespace vramscope::simulated;

namespace {

std::mutex mutex;
std::vector<MemoryPool*>& Pools() {
  static auto* const pools = new std::vector<MemoryPool*>;
  return *pools;
}
MemoryPool* default_pools[kMaxDevices];
MemoryPool* current_pools[kMaxDevices];

MemoryPool* NewPool(int device) {
  Pools().push_back(new MemoryPool(device));
  return Pools().back();
}

MemoryPool* DefaultPool(int device) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (default_pools[device] == nullptr) default_pools[device] = current_pools[device] = NewPool(device);
  return default_pools[device];
}

MemoryPool* CurrentPool(int device) {
  DefaultPool(device);
  const std::lock_guard<std::mutex> lock(mutex);
  return current_pools[device];
}

// CUmemPoolProps as far as it is read: allocation type, handle types, location.
struct PoolProperties {
  int type;
  int handle_types;
  MemoryLocation location;
};

bool IsCounter(int attribute) { return attribute >= static_cast<int>(PoolAttribute::kReleaseThreshold); }

template <typename Try>
bool AnyPool(Try try_pool) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (MemoryPool* const pool : Pools()) {
    if (try_pool(*pool)) return true;
  }
  return false;
}

}  // namespace

namespace vramscope::simulated {

bool FindInPools(uint64_t address, uint64_t* begin, uint64_t* bytes) {
  return AnyPool([&](MemoryPool& pool) { return pool.Find(address, begin, bytes); });
}

bool FreeInPools(uint64_t address) {
  return AnyPool([&](MemoryPool& pool) { return pool.Free(address) == kSuccess; });
}

void* PoolOf(uint64_t address) {
  MemoryPool* found = nullptr;
  AnyPool([&](MemoryPool& pool) {
    uint64_t begin = 0, bytes = 0;
    if (pool.Find(address, &begin, &bytes)) found = &pool;
    return found != nullptr;
  });
  return found;
}

}  // namespace vramscope::simulated

SIMULATED_EXPORT int cuDeviceGetDefaultMemPool(MemoryPool** pool, int device) {
  if (!IsDevice(device)) return kInvalidDevice;
  *pool = DefaultPool(device);
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceGetMemPool(MemoryPool** pool, int device) {
  if (!IsDevice(device)) return kInvalidDevice;
  *pool = CurrentPool(device);
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceSetMemPool(int device, MemoryPool* pool) {
  if (!IsDevice(device)) return kInvalidDevice;
  DefaultPool(device);
  const std::lock_guard<std::mutex> lock(mutex);
  current_pools[device] = pool;
  return kSuccess;
}

SIMULATED_EXPORT int cuMemPoolCreate(MemoryPool** pool, const PoolProperties* properties) {
  if (!IsDevice(properties->location.id)) return kInvalidValue;
  const std::lock_guard<std::mutex> lock(mutex);
  *pool = NewPool(properties->location.id);
  return kSuccess;
}

// Its memory is freed with the last allocation. The pool itself stays known, because pointers from it may
// still be queried.
SIMULATED_EXPORT int cuMemPoolDestroy(MemoryPool* pool) {
  pool->Set(PoolAttribute::kReleaseThreshold, 0);
  pool->Trim(0);
  return kSuccess;
}

SIMULATED_EXPORT int cuMemPoolTrimTo(MemoryPool* pool, size_t keep) {
  pool->Trim(keep);
  return kSuccess;
}

SIMULATED_EXPORT int cuMemPoolGetAttribute(MemoryPool* pool, int attribute, void* value) {
  if (IsCounter(attribute)) {
    *static_cast<uint64_t*>(value) = pool->Get(static_cast<PoolAttribute>(attribute));
  } else {
    *static_cast<int*>(value) =
        1;  // memory may be reused along events, opportunistically, with internal dependencies
  }
  return kSuccess;
}

SIMULATED_EXPORT int cuMemPoolSetAttribute(MemoryPool* pool, int attribute, void* value) {
  if (IsCounter(attribute)) pool->Set(static_cast<PoolAttribute>(attribute), *static_cast<uint64_t*>(value));
  return kSuccess;
}

SIMULATED_EXPORT int cuMemPoolSetAccess(MemoryPool*, const void*, size_t) { return kSuccess; }
SIMULATED_EXPORT int cuMemPoolGetAccess(int* flags, MemoryPool*, const void*) {
  *flags = 3;
  return kSuccess;
}

SIMULATED_EXPORT int cuMemAllocFromPoolAsync(DevicePointer* pointer, size_t bytes, MemoryPool* pool,
                                             void* stream) {
  if (const int error = TheStreams().Issue(StreamOf(stream), NodeType::kEmpty)) return error;
  return pool->Allocate(bytes, SIMULATED_ORIGIN(), pointer);
}

SIMULATED_EXPORT int cuMemAllocAsync(DevicePointer* pointer, size_t bytes, void* stream) {
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  if (const int error = TheStreams().Issue(StreamOf(stream), NodeType::kEmpty)) return error;
  return CurrentPool(device)->Allocate(bytes, SIMULATED_ORIGIN(), pointer);
}

SIMULATED_EXPORT int cuMemFreeAsync(DevicePointer pointer, void* stream) {
  if (pointer == 0) return kSuccess;
  if (const int error = TheStreams().Issue(StreamOf(stream), NodeType::kEmpty)) return error;
  if (FreeInPools(pointer)) return kSuccess;
  const int device = DeviceOf(pointer);
  return device < 0 ? kInvalidValue : DeviceNumber(device).Free(pointer);
}
