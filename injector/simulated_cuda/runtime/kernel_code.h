// SPDX-License-Identifier: Apache-2.0
// Machine code on the device. A kernel's code is loaded at its first launch or query
// (CUDA_MODULE_LOADING=LAZY, the default). With EAGER, all code is loaded before the first launch (CUDA C++
// Programming Guide, "Lazy Loading"). The runtime passes the size on to the driver.
#pragma once

namespace vramscope::simulated {

// Call before the driver launches or is asked about the kernel. Returns 0 or a CUDA error. Takes some
// nanoseconds, except the first time.
int AnnounceKernel(const void* kernel);

}  // namespace vramscope::simulated
