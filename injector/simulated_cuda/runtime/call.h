// SPDX-License-Identifier: Apache-2.0
// Shared by all functions of the runtime: the driver's functions, and the calling thread's device and last
// error.
//
// The driver is reached as NVIDIA's runtime reaches it: through dlopen, one dlsym and then cuGetProcAddress
// for each function. So a hook of the driver sees here what it would see on a GPU. No CUDA header: handles
// are void*, device pointers are addresses.
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

// The table; nullptr if there is no libcuda.so.1 with all of its functions. Every call then returns that
// there is no device.
const Driver* TheDriver();

// Keeps the error for cudaGetLastError and returns it.
int Keep(int error);
int LastError();
void ForgetLastError();

// The thread's current device; a thread that never chose has device 0.
int RuntimeDevice();
// kSuccess once the thread has the context of its current device.
int UseDevice();
int ChooseDevice(int device);

// One call of the runtime by the program: records the caller for the ledger.
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

// Calls the driver's `cuName(arguments)` with the thread's context and keeps its error.
#define ON_DEVICE(...)                                 \
  do {                                                 \
    const int no_device = UseDevice();                 \
    if (no_device != kSuccess) return Keep(no_device); \
    return Keep(TheDriver()->__VA_ARGS__);             \
  } while (false)

// Like ON_DEVICE, for functions that need no context.
#define WITH_DRIVER(...)                                \
  do {                                                  \
    if (TheDriver() == nullptr) return Keep(kNoDevice); \
    return Keep(TheDriver()->__VA_ARGS__);              \
  } while (false)

inline uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace vramscope::simulated
