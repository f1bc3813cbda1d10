// SPDX-License-Identifier: Apache-2.0
// Counts the device memory that the machine code of kernels takes. A module's own code is loaded with the
// module. A function's code is loaded at the function's first use (CUDA C++ Programming Guide, "Lazy
// Loading").
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Adds `bytes` of code to the calling thread's current device. All code of the process shares blocks of
// memory; a new block is allocated when the blocks are full. `owner`: an address in the library that contains
// the code. Returns 0 or a CUDA error.
int LoadCode(uint64_t bytes, const void* owner);

// Loads the function's code on the current device if the code is not loaded there. The size of the code was
// given by vramscope_simulated_code. Called at every kernel launch; a call for loaded code takes some
// nanoseconds.
int LoadFunction(const void* function);

}  // namespace vramscope::simulated
