// SPDX-License-Identifier: Apache-2.0
// PyTorch's other CUDA allocator, PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync. This allocator reports no
// block, so we watch libc10_cuda's requests to the CUDA runtime.
#pragma once

namespace vramscope::injector {

// Redirects cudaMallocAsync and cudaFreeAsync of libc10_cuda alone. Does nothing without libc10_cuda. Any
// thread; may be called again.
void WatchAsyncAllocator();

// Undoes WatchAsyncAllocator.
void StopWatchingAsyncAllocator();

}  // namespace vramscope::injector
