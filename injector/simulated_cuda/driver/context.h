// SPDX-License-Identifier: Apache-2.0
// The current device of a thread, and helpers that the driver's functions share.
#pragma once

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"
#include "injector/simulated_cuda/device/settings.h"
#include "injector/simulated_cuda/device/streams.h"

namespace vramscope::simulated {

// CUcontext. Each device has its primary context, and those that a program creates.
struct Context {
  int device;
  unsigned flags;
  int retained;    // cuDevicePrimaryCtxRetain minus Release
  LedgerRow* row;  // of a context that a program created
};

// -1 if the thread has no context.
int CurrentDevice();
Context* CurrentContext();
void SetCurrentContext(Context* context);
// Returns the primary context, and takes its memory from the device the first time. kInvalidDevice, or
// kOutOfMemory if the context does not fit.
int ActivateDevice(int device, Context** context);
// Creates a further context, which takes as much memory as a primary one. Same errors.
int CreateContext(int device, Context** context);
void DestroyContext(Context* context);
// True if the device's primary context exists. Does not create it.
bool IsActive(int device);

// How the program entered CUDA: through the runtime, which announces it (private_calls.h), or through the
// driver function `call` itself.
Origin OriginOf(const char* call, const void* caller);
#define SIMULATED_ORIGIN() OriginOf(__func__, __builtin_return_address(0))

bool IsDevice(int device);

// The stream of a handle that the program passed.
Stream* StreamOf(void* handle);

}  // namespace vramscope::simulated
