// SPDX-License-Identifier: Apache-2.0
// Records the bytes and the stream that a program requests from PyTorch's CUDA allocator.
//
// PyTorch reports a block only with its rounded size (memory_hooks.cc). A replay with other allocator
// settings needs the requested bytes.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The allocation request that the calling thread has made to the CUDA allocator. `bytes` is 0 if there is no
// request in progress, or if its size is unknown.
struct CudaRequest {
  uint64_t bytes;
  uint64_t stream;  // CUstream handle; 0 = default stream
};
extern thread_local CudaRequest cuda_request __attribute__((tls_model("initial-exec")));

// Hooks NativeCachingAllocator::allocate if PyTorch is loaded and the allocator has the expected layout. May
// be called from any thread, and more than once.
void WatchCudaAllocator();

// Undoes WatchCudaAllocator.
void StopWatchingCudaAllocator();

}  // namespace vramscope::injector
