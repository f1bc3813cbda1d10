// SPDX-License-Identifier: Apache-2.0
// Tells the simulated driver when a kernel's machine code is loaded onto the device, and how large it is.
//
// By default (CUDA_MODULE_LOADING=LAZY), a kernel's code is loaded when the kernel is first launched or
// queried. With EAGER, all code is loaded before the first launch (CUDA C++ Programming Guide, "Lazy
// Loading").
#pragma once

namespace vramscope::simulated {

// Call this before the driver launches the kernel or answers a query about it. Returns 0 or a CUDA error
// code. Takes some nanoseconds, except at the kernel's first call.
int AnnounceKernel(const void* kernel);

}  // namespace vramscope::simulated
