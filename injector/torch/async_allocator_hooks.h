// SPDX-License-Identifier: Apache-2.0
// PyTorch's other CUDA allocator, PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync. It reports no block to any
// observer. Its blocks are the driver's; we see them where libc10_cuda requests them from the CUDA runtime.
#pragma once

namespace vramscope::injector {

// Redirects libc10_cuda's calls of cudaMallocAsync and cudaFreeAsync, and no other library's: another library
// may have another runtime. Does nothing if libc10_cuda is not loaded. Any thread; may be called again.
void WatchAsyncAllocator();

// Undoes WatchAsyncAllocator.
void StopWatchingAsyncAllocator();

}  // namespace vramscope::injector
