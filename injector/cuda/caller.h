// SPDX-License-Identifier: Apache-2.0
// Who called: the loaded object outside CUDA's runtime that made a call of the driver happen.
//
//   libc10_cuda.so ──cudaMalloc──► libcudart.so.12 ──cuMemAlloc──► here        libc10_cuda.so
//   libnccl.so.2 (its own cudart inside) ──cuMemAlloc──► here                  libnccl.so.2
//
// When the return address lies in a shared libcudart, the frames above it tell. To unwind them costs
// microseconds, so the size of each frame of the runtime is measured once: its functions have frames of fixed
// size, and the same place in the code always lies as far below its caller.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The place from which one of our functions was called.
struct CallSite {
  const void* return_address;
  const void* stack;  // the caller's stack pointer at the call (the canonical frame address of the callee)
};

// The id of the object's file name; 0 when it cannot be told (generated code). Not for use inside dlsym.
uint32_t CallingLibrary(const CallSite& site);

}  // namespace vramscope::injector
