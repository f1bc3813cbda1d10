// SPDX-License-Identifier: Apache-2.0
// What a block of PyTorch's CUDA allocator was asked for: how many bytes, by which stream.
//
// Why: the report of a block (memory_hooks.cc) tells how large the block became and nothing of the request.
// Without the request nobody can tell rounding from use, nor run the history again under other settings.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The request that this thread's CUDA allocator is serving; 0 bytes: none, or not known.
struct CudaRequest {
  uint64_t bytes;
  uint64_t stream;  // handle; 0 = default stream
};
extern thread_local CudaRequest cuda_request __attribute__((tls_model("initial-exec")));

// Stands in for NativeCachingAllocator::allocate from now on, where it is loaded and looks as expected. Any
// thread; may be called again.
void WatchCudaAllocator();

// The reverse.
void StopWatchingCudaAllocator();

}  // namespace vramscope::injector
