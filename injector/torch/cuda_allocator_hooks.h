// SPDX-License-Identifier: Apache-2.0
// The request that led to a block of PyTorch's CUDA allocator: how many bytes, on which stream.
//
// Why: the report of a block (memory_hooks.cc) has the block's final size but not the request. Without the
// request, rounding cannot be separated from use, and the history cannot be replayed under other settings.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The request that this thread's CUDA allocator is serving; 0 bytes: none, or not known.
struct CudaRequest {
  uint64_t bytes;
  uint64_t stream;  // handle; 0 = default stream
};
extern thread_local CudaRequest cuda_request __attribute__((tls_model("initial-exec")));

// Replaces NativeCachingAllocator::allocate from now on, if it is loaded and looks as expected. Any thread;
// may be called again.
void WatchCudaAllocator();

// Puts back the function that WatchCudaAllocator replaced.
void StopWatchingCudaAllocator();

}  // namespace vramscope::injector
