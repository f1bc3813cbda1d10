// SPDX-License-Identifier: Apache-2.0
// Shared by all functions of the runtime: the driver's functions, and a thread's device and last error.
//
// The driver is reached as by NVIDIA's runtime: dlopen, one dlsym, then cuGetProcAddress. A hook of the
// driver sees the same as on a GPU. Handles are void*, device pointers are addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/abi.h"

#ifndef SIMULATED_CUDA_ABI
#error "SIMULATED_CUDA_ABI is 12 or 13: libcudart.so.12 and .13 are built from the same files"
#endif

namespace vramscope::simulated {

struct Driver {
#define DRIVER(name, parameters) int(*name) parameters;
#include "injector/simulated_cuda/runtime/driver_functions.def"
#undef DRIVER
};

// nullptr without a libcuda.so.1 with all functions. Calls then return that there is no device.
const Driver* TheDriver();

// Keeps the error for cudaGetLastError and returns it.
int Keep(int error);
int LastError();
void ForgetLastError();

// The thread's current device, 0 at first.
int RuntimeDevice();
// kSuccess once the thread has the context of its current device.
int UseDevice();
int ChooseDevice(int device);

// One call by the program: records the caller for the ledger.
class CallFrom {
 public:
  CallFrom(const char* call, const void* caller) { Announce(call, caller); }
  ~CallFrom() { Announce(nullptr, nullptr); }
  CallFrom(const CallFrom&) = delete;
  CallFrom& operator=(const CallFrom&) = delete;

 private:
  static void Announce(const char* call, const void* caller) {
    if (const Driver* const driver = TheDriver()) driver->vramscope_simulated_origin(call, caller);
  }
};
#define SIMULATED_CALL() const CallFrom call_from(__func__, __builtin_return_address(0))

// Calls `cuName(arguments)` with the thread's context and keeps its error.
#define ON_DEVICE(...)                                 \
  do {                                                 \
    const int no_device = UseDevice();                 \
    if (no_device != kSuccess) return Keep(no_device); \
    return Keep(TheDriver()->__VA_ARGS__);             \
  } while (false)

// Like ON_DEVICE, without a context.
#define WITH_DRIVER(...)                                \
  do {                                                  \
    if (TheDriver() == nullptr) return Keep(kNoDevice); \
    return Keep(TheDriver()->__VA_ARGS__);              \
  } while (false)

inline uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace vramscope::simulated
