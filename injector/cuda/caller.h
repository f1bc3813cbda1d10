// SPDX-License-Identifier: Apache-2.0
// Who called: the loaded object outside CUDA's runtime that made a call of the driver happen.
//
//   libc10_cuda.so ──cudaMalloc──► libcudart.so.12 ──cuMemAlloc──► here        libc10_cuda.so
//   libnccl.so.2 (its own cudart inside) ──cuMemAlloc──► here                  libnccl.so.2
//
// When the return address lies in a shared libcudart, the frames above it tell. Names are kept by object.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The id of the object's file name; 0 when it cannot be told (generated code). Not for use inside dlsym.
uint32_t CallingLibrary(const void* return_address);

}  // namespace vramscope::injector
