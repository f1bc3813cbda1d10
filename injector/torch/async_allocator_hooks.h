// SPDX-License-Identifier: Apache-2.0
// PyTorch's other CUDA allocator, PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync, which reports no block to
// anybody: its blocks are the driver's, and are seen where libc10_cuda asks the CUDA runtime for them.
#pragma once

namespace vramscope::injector {

// Redirects libc10_cuda's calls of cudaMallocAsync and cudaFreeAsync, and nobody else's: another library may
// have another runtime. Does nothing where libc10_cuda is not loaded. Any thread; may be called again.
void WatchAsyncAllocator();

// The reverse.
void StopWatchingAsyncAllocator();

}  // namespace vramscope::injector
