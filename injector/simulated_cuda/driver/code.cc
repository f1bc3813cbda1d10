// SPDX-License-Identifier: Apache-2.0
// What a context grows by after it was made: code of kernels, and the heaps that cuCtxSetLimit sizes
// (overheads.def).
//
//   first launch of a kernel     its code, in blocks of 2 MiB that all modules share; with the first of all
//   the
//                                buffer of printf
//   cuCtxSetLimit                stack: local memory for every thread that can be resident; malloc heap
//
// VRAMSCOPE_SIMULATED_KERNELS=0 leaves code and printf out.
#include <mutex>

#include "injector/simulated_cuda/device/overheads.h"
#include "injector/simulated_cuda/driver/context.h"
#include "injector/simulated_cuda/driver/private_calls.h"

using namespace vramscope::simulated;

namespace {

// CU_LIMIT_*
enum Limit { kStack = 0, kPrintf = 1, kMallocHeap = 2, kLimits = 3 };
constexpr size_t kDefaults[kLimits] = {1024, 1 << 20, 8 << 20};

constexpr size_t kMostLibraries = 8;

struct Growth {
  size_t limits[kLimits] = {kDefaults[kStack], kDefaults[kPrintf], kDefaults[kMallocHeap]};
  LedgerRow* rows[kLimits] = {};  // of what the limits took
  uint64_t taken[kLimits] = {};
  uint64_t code = 0, code_blocks = 0;
  const char* libraries[kMostLibraries] = {};  // those that took their part
};

std::mutex growing;
Growth growth[kMaxDevices];

// Makes what the limit took `bytes`. Not less than it was when the device is full.
int Resize(int device, Limit limit, uint64_t bytes, const char* call) {
  Growth& of = growth[device];
  if (bytes == of.taken[limit]) return kSuccess;
  Device& memory = DeviceNumber(device);
  LedgerRow* const row = bytes != 0 ? memory.TakePhysical(bytes, {call, nullptr}) : nullptr;
  if (bytes != 0 && row == nullptr) return kOutOfMemory;
  if (of.taken[limit] != 0) memory.GivePhysical(of.rows[limit], of.taken[limit]);
  of.rows[limit] = row;
  of.taken[limit] = bytes;
  return kSuccess;
}

uint64_t ResidentThreads() {
  const Gpu& gpu = *TheSettings().gpu;
  return static_cast<uint64_t>(gpu.multiprocessors) * static_cast<uint64_t>(gpu.threads_per_multiprocessor);
}

}  // namespace

SIMULATED_EXPORT int cuCtxGetLimit(size_t* value, int limit) {
  const std::lock_guard<std::mutex> lock(growing);
  const int device = CurrentDevice();
  const bool known = limit >= 0 && limit < kLimits;
  *value = !known ? 0 : device < 0 ? kDefaults[limit] : growth[device].limits[limit];
  return kSuccess;
}

SIMULATED_EXPORT int cuCtxSetLimit(int limit, size_t value) {
  const std::lock_guard<std::mutex> lock(growing);
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  if (limit < 0 || limit >= kLimits) return kSuccess;
  int error = kSuccess;
  if (limit == kStack) {
    const uint64_t more = value > kDefaults[kStack] ? value - kDefaults[kStack] : 0;
    error = Resize(device, kStack, more * ResidentThreads(), "local memory");
  } else if (limit == kMallocHeap) {
    error = Resize(device, kMallocHeap, value, "malloc heap");
  } else if (growth[device].taken[kPrintf] != 0) {
    error = kInvalidValue;  // as CUDA has it once a kernel was launched
  }
  if (error == kSuccess) growth[device].limits[limit] = value;
  return error;
}

SIMULATED_EXPORT int vramscope_simulated_kernel(size_t bytes, const void* owner) {
  if (!TheSettings().count_kernels) return kSuccess;
  const std::lock_guard<std::mutex> lock(growing);
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  Growth& of = growth[device];
  if (of.code == 0) {
    if (const int error = Resize(device, kPrintf, of.limits[kPrintf], "printf")) return error;
  }
  while (of.code_blocks * kGranule < of.code + bytes) {
    if (DeviceNumber(device).TakePhysical(kGranule, {"kernels", owner}) == nullptr) return kOutOfMemory;
    of.code_blocks++;
  }
  of.code += bytes;
  return kSuccess;
}

SIMULATED_EXPORT int vramscope_simulated_once(const char* call, size_t bytes, const void* owner) {
  if (!TheSettings().count_kernels) return kSuccess;
  const std::lock_guard<std::mutex> lock(growing);
  const int device = CurrentDevice();
  if (device < 0) return kInvalidContext;
  for (const char*& library : growth[device].libraries) {
    if (library == call) return kSuccess;
    if (library != nullptr) continue;
    if (DeviceNumber(device).TakePhysical(bytes, {call, owner}) == nullptr) return kOutOfMemory;
    library = call;
    return kSuccess;
  }
  return kSuccess;
}
