// SPDX-License-Identifier: Apache-2.0
// Machine code on the device: a kernel's is loaded when it is first launched or asked about
// (CUDA_MODULE_LOADING=LAZY, the default since CUDA 12.2 and what PyTorch sets), all of it before the first
// launch with EAGER (CUDA C++ Programming Guide, "Lazy Loading"). The driver does it, in the call that needs
// the code; the runtime knows the fat binaries, and says how large it is.
#pragma once

namespace vramscope::simulated {

// Before the driver launches the kernel or is asked about it; 0 or an error of CUDA. Some nanoseconds when
// the thread has launched the kernel before.
int AnnounceKernel(const void* kernel);

}  // namespace vramscope::simulated
