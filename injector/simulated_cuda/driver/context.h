// SPDX-License-Identifier: Apache-2.0
// The CUDA contexts of the simulated driver: the current context and device of a thread, creation and
// destruction.
#pragma once

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"
#include "injector/simulated_cuda/device/settings.h"
#include "injector/simulated_cuda/device/streams.h"

namespace vramscope::simulated {

// CUcontext: the primary context of a device, or a context that the program created.
struct Context {
  int device;
  unsigned flags;
  int retained;    // calls of cuDevicePrimaryCtxRetain minus calls of cuDevicePrimaryCtxRelease
  LedgerRow* row;  // memory of a context that the program created; nullptr for a primary context
};

// Returns the device of the calling thread's current context; -1 if the thread has no context.
int CurrentDevice();
Context* CurrentContext();
void SetCurrentContext(Context* context);
// Sets `*context` to the device's primary context. The first call for a device allocates the context's
// memory. Returns kSuccess, kInvalidDevice, or kOutOfMemory if the context does not fit.
int ActivateDevice(int device, Context** context);
// Creates a context that takes as much memory as the primary context. Returns the same errors as
// ActivateDevice.
int CreateContext(int device, Context** context);
void DestroyContext(Context* context);
// True if the primary context exists.
bool IsActive(int device);

// Returns the CUDA function that the program called and the address of its caller. The function is one of the
// runtime if the runtime announced it (private_calls.h); otherwise it is the driver function `call`.
Origin OriginOf(const char* call, const void* caller);
#define SIMULATED_ORIGIN() OriginOf(__func__, __builtin_return_address(0))

bool IsDevice(int device);

// Returns the stream of a CUstream handle on the calling thread's current device.
Stream* StreamOf(void* handle);

}  // namespace vramscope::simulated
