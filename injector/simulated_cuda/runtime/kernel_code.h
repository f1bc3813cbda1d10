// SPDX-License-Identifier: Apache-2.0
// Machine code on the device: a kernel's is loaded when it is first launched or asked about
// (CUDA_MODULE_LOADING=LAZY, the default since CUDA 12.2 and what PyTorch sets), all of it before the first
// launch with EAGER (CUDA C++ Programming Guide, "Lazy Loading").
#pragma once

namespace vramscope::simulated {

// Has the current device load it unless it has; 0 or an error of CUDA. Called at every launch: some
// nanoseconds when the thread has launched the kernel before.
int LoadKernel(const void* kernel);

}  // namespace vramscope::simulated
