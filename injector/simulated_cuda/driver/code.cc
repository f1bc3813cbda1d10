// SPDX-License-Identifier: Apache-2.0
// The memory that a context takes after its creation: code of kernels, and the heaps that cuCtxSetLimit sizes
// (overheads.def).
//
//   first launch of a kernel     its code, in blocks of 2 MiB that all modules share; the very first one
//                                also takes printf's buffer
//   cuCtxSetLimit                stack: local memory for every thread that can be resident; malloc heap
//
// VRAMSCOPE_SIMULATED_KERNELS=0 leaves code and printf out.
#include "injector/simulated_cuda/driver/code.h"

#include <mutex>
#include <unordered_map>

#include "injector/simulated_cuda/device/overheads.h"
#include "injector/simulated_cuda/driver/context.h"
#include "injector/simulated_cuda/driver/private_calls.h"

using namespace vramscope::simulated;

namespace {

// CU_LIMIT_*
enum Limit { kStack = 0, kPrintf = 1, kMallocHeap = 2, kLimits = 3 };
constexpr size_t kDefaults[kLimits] = {1024, 1 << 20, 8 << 20};

struct Growth {
  size_t limits[kLimits] = {kDefaults[kStack], kDefaults[kPrintf], kDefaults[kMallocHeap]};
  LedgerRow* rows[kLimits] = {};  // of what the limits took
  uint64_t taken[kLimits] = {};
  uint64_t code = 0, code_blocks = 0;
};

// The known facts about a function's code.
struct Code {
  const char* call;
  size_t bytes;
  const void* owner;
  unsigned loaded_on;  // a bit for each device
};
static_assert(kMaxDevices <= 32);

std::mutex growing;
Growth growth[kMaxDevices];

// Never destroyed: kernels are launched while the process exits.
std::unordered_map<const void*, Code>& Announced() {
  static auto* const announced = new std::unordered_map<const void*, Code>;
  return *announced;
}

// Resizes the limit's memory to `bytes`. Keeps the old size if the device is full.
int Resize(int device, Limit limit, uint64_t bytes, const Origin& origin) {
  Growth& of = growth[device];
  if (bytes == of.taken[limit]) return kSuccess;
  Device& memory = DeviceNumber(device);
  LedgerRow* const row = bytes != 0 ? memory.TakePhysical(bytes, origin) : nullptr;
  if (bytes != 0 && row == nullptr) return kOutOfMemory;
  if (of.taken[limit] != 0) memory.GivePhysical(of.rows[limit], of.taken[limit]);
  of.rows[limit] = row;
  of.taken[limit] = bytes;
  return kSuccess;
}

int LoadInBlocks(int device, uint64_t bytes, const void* owner) {
  Growth& of = growth[device];
  if (of.code == 0) {
    if (const int error = Resize(device, kPrintf, of.limits[kPrintf], {"printf", owner})) return error;
  }
  while (of.code_blocks * kGranule < of.code + bytes) {
    if (DeviceNumber(device).TakePhysical(kGranule, {"kernels", owner}) == nullptr) return kOutOfMemory;
    of.code_blocks++;
  }
  of.code += bytes;
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
  const void* const caller = SIMULATED_ORIGIN().caller;
  int error = kSuccess;
  if (limit == kStack) {
    const uint64_t more = value > kDefaults[kStack] ? value - kDefaults[kStack] : 0;
    error = Resize(device, kStack, more * ResidentThreads(), {"local memory", caller});
  } else if (limit == kMallocHeap) {
    error = Resize(device, kMallocHeap, value, {"malloc heap", caller});
  } else if (growth[device].taken[kPrintf] != 0) {
    error = kInvalidValue;  // as CUDA returns once a kernel has been launched
  }
  if (error == kSuccess) growth[device].limits[limit] = value;
  return error;
}

SIMULATED_EXPORT void vramscope_simulated_code(const void* function, const char* call, size_t bytes,
                                               const void* owner) {
  const std::lock_guard<std::mutex> lock(growing);
  Code& code = Announced()[function];
  if (code.loaded_on == 0) code = {call, bytes, owner, 0};
}

namespace vramscope::simulated {

int LoadCode(uint64_t bytes, const void* owner) {
  if (!TheSettings().count_kernels) return kSuccess;
  const std::lock_guard<std::mutex> lock(growing);
  const int device = CurrentDevice();
  return device < 0 ? static_cast<int>(kInvalidContext) : LoadInBlocks(device, bytes, owner);
}

int LoadFunction(const void* function) {
  constexpr size_t kKnown = 512;
  struct Known {
    const void* function;
    int device;
  };
  thread_local Known known[kKnown] = {};
  const int device = CurrentDevice();
  if (device < 0 || !TheSettings().count_kernels) return kSuccess;
  Known& entry = known[reinterpret_cast<uintptr_t>(function) / 16 % kKnown];
  if (entry.function == function && entry.device == device) return kSuccess;

  const std::lock_guard<std::mutex> lock(growing);
  const auto found = Announced().find(function);
  if (found == Announced().end()) return kSuccess;
  Code& code = found->second;
  if ((code.loaded_on >> device & 1) == 0) {
    if (code.call == nullptr) {
      if (const int error = LoadInBlocks(device, code.bytes, code.owner)) return error;
    } else if (DeviceNumber(device).TakePhysical(code.bytes, {code.call, code.owner}) == nullptr) {
      return kOutOfMemory;
    }
    code.loaded_on |= 1u << device;
  }
  entry = {function, device};
  return kSuccess;
}

}  // namespace vramscope::simulated
