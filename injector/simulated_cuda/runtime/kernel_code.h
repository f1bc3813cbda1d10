// SPDX-License-Identifier: Apache-2.0
// Machine code on the device. A kernel's code is loaded when the kernel is first launched or queried
// (CUDA_MODULE_LOADING=LAZY, the default since CUDA 12.2 and PyTorch's setting). With EAGER all code is
// loaded before the first launch (CUDA C++ Programming Guide, "Lazy Loading"). The driver loads it in the
// call that needs it. The runtime knows the fat binaries and passes on the size.
#pragma once

namespace vramscope::simulated {

// Call before the driver launches the kernel or is queried about it. Returns 0 or a CUDA error. Some
// nanoseconds if the thread has launched the kernel before.
int AnnounceKernel(const void* kernel);

}  // namespace vramscope::simulated
