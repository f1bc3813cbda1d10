// SPDX-License-Identifier: Apache-2.0
// Hooks for PyTorch's cudaMallocAsync allocator (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync). This
// allocator does not report its blocks, so we hook the calls of libc10_cuda to the CUDA runtime.
#pragma once

namespace vramscope::injector {

// Redirects the calls of cudaMallocAsync and cudaFreeAsync in libc10_cuda, and in no other library. Does
// nothing if libc10_cuda is not loaded. May be called from any thread, and more than once.
void WatchAsyncAllocator();

// Undoes WatchAsyncAllocator.
void StopWatchingAsyncAllocator();

}  // namespace vramscope::injector
