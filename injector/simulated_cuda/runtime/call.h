// SPDX-License-Identifier: Apache-2.0
// What all functions of the simulated CUDA runtime use: the driver's functions, and a thread's current device
// and last error.
//
// The runtime finds the driver's functions as NVIDIA's runtime does: dlopen, one dlsym, then
// cuGetProcAddress. Therefore hooks of the driver get the same calls as on a GPU.
//
// Handles have the type void*. Device pointers are addresses.
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

// Returns the driver's functions; nullptr if no libcuda.so.1 with all functions can be loaded. Runtime
// functions then return kNoDevice.
const Driver* TheDriver();

// Stores `error` for cudaGetLastError and returns `error`.
int Keep(int error);
int LastError();
void ForgetLastError();

// Returns the calling thread's current device, initially 0.
int RuntimeDevice();
// Makes the primary context of the current device current if the calling thread has no context. Returns
// kSuccess or a CUDA error.
int UseDevice();
// Makes `device` and its primary context current for the calling thread (cudaSetDevice).
int ChooseDevice(int device);

// Tells the driver, during a call of a runtime function, which function the program called and from where.
// The driver's ledger stores both with each allocation.
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

// Calls the driver function `cuName(arguments)` after UseDevice(), stores its error and returns the error.
#define ON_DEVICE(...)                                 \
  do {                                                 \
    const int no_device = UseDevice();                 \
    if (no_device != kSuccess) return Keep(no_device); \
    return Keep(TheDriver()->__VA_ARGS__);             \
  } while (false)

// Like ON_DEVICE, but does not need a current context.
#define WITH_DRIVER(...)                                \
  do {                                                  \
    if (TheDriver() == nullptr) return Keep(kNoDevice); \
    return Keep(TheDriver()->__VA_ARGS__);              \
  } while (false)

inline uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace vramscope::simulated
