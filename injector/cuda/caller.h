// SPDX-License-Identifier: Apache-2.0
// Finds the library that caused a driver call. Libraries of the CUDA runtime (libcudart) are skipped.
//
//   calls                                                                      library that is found
//   libc10_cuda.so ──cudaMalloc──► libcudart.so.12 ──cuMemAlloc──► our hook    libc10_cuda.so
//   libnccl.so.2 (contains its own cudart) ──cuMemAlloc──► our hook            libnccl.so.2
//
// If the return address lies in a shared libcudart, the frames above it identify the caller. Unwinding takes
// microseconds, but the runtime's frames have fixed sizes. After three equal measurements, the stored size of
// a frame is used (x86-64 only).
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The place that called one of our functions.
struct CallSite {
  const void* return_address;
  const void* stack;  // caller's stack pointer at the call (callee's canonical frame address)
};

// Returns the string id of the library's file name; 0 if the caller is in no library (generated code). Must
// not be called inside dlsym.
uint32_t CallingLibrary(const CallSite& site);

}  // namespace vramscope::injector
