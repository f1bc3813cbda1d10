// SPDX-License-Identifier: Apache-2.0
// The request that led to a block of PyTorch's CUDA allocator: bytes and stream.
//
// A block's report (memory_hooks.cc) has only the final size. Replay under other settings needs the request.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The request that this thread's CUDA allocator is serving; 0 bytes = none, or not known.
struct CudaRequest {
  uint64_t bytes;
  uint64_t stream;  // handle; 0 = default stream
};
extern thread_local CudaRequest cuda_request __attribute__((tls_model("initial-exec")));

// Replaces NativeCachingAllocator::allocate, if loaded and as expected. Any thread; may be called again.
void WatchCudaAllocator();

// Undoes WatchCudaAllocator.
void StopWatchingCudaAllocator();

}  // namespace vramscope::injector
