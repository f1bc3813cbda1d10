// SPDX-License-Identifier: Apache-2.0
// The current device of a thread, and shared helpers of the driver's functions.
#pragma once

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"
#include "injector/simulated_cuda/device/settings.h"
#include "injector/simulated_cuda/device/streams.h"

namespace vramscope::simulated {

// CUcontext. A device has a primary context, and those that a program creates.
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
// The primary context; the first call takes its memory. kInvalidDevice, or kOutOfMemory if it does not fit.
int ActivateDevice(int device, Context** context);
// Creates a further context, as large as a primary one. Same errors.
int CreateContext(int device, Context** context);
void DestroyContext(Context* context);
// True if the primary context exists.
bool IsActive(int device);

// How the program entered CUDA: through the runtime (private_calls.h), or through the driver function `call`.
Origin OriginOf(const char* call, const void* caller);
#define SIMULATED_ORIGIN() OriginOf(__func__, __builtin_return_address(0))

bool IsDevice(int device);

// The stream of a program's handle.
Stream* StreamOf(void* handle);

}  // namespace vramscope::simulated
