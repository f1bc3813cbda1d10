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
// The primary context; charges its memory on the device. kOutOfMemory if not even that fits.
int ActivateDevice(int device, Context** context);
// A context that the program creates; takes the same memory.
int CreateContext(int device, Context** context);
void DestroyContext(Context* context);
// Its state without activating it.
bool IsActive(int device);

// How the program entered CUDA: through the runtime, which announces it (private_calls.h), or through the
// driver function `call` itself.
Origin OriginOf(const char* call, const void* caller);
#define SIMULATED_ORIGIN() OriginOf(__func__, __builtin_return_address(0))

bool IsDevice(int device);

// The stream of a handle that the program passed.
Stream* StreamOf(void* handle);

}  // namespace vramscope::simulated
