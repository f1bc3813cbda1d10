// SPDX-License-Identifier: Apache-2.0
// Finds the loaded object outside CUDA's runtime that caused a driver call.
//
//   libc10_cuda.so ──cudaMalloc──► libcudart.so.12 ──cuMemAlloc──► here        libc10_cuda.so
//   libnccl.so.2 (its own cudart inside) ──cuMemAlloc──► here                  libnccl.so.2
//
// If the return address lies in a shared libcudart, the frames above identify the caller. Unwinding costs
// microseconds, but the runtime's frames have fixed sizes: after three equal measurements, the stored size is
// used (x86-64 only).
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The place that called one of our functions.
struct CallSite {
  const void* return_address;
  const void* stack;  // caller's stack pointer at the call (callee's canonical frame address)
};

// The id of the object's file name; 0 if unknown (generated code). Not inside dlsym.
uint32_t CallingLibrary(const CallSite& site);

}  // namespace vramscope::injector
