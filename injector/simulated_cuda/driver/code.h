// SPDX-License-Identifier: Apache-2.0
// Machine code on the device. A module's code is loaded with the module, a function's code when the function
// is first used (CUDA C++ Programming Guide, "Lazy Loading").
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Charges `bytes` to the calling thread's device, in blocks that all code of the process shares. `owner` is
// an address in the library that the code belongs to. Returns 0 or a CUDA error.
int LoadCode(uint64_t bytes, const void* owner);

// Makes the thread's device load the code that vramscope_simulated_code announced for the function, unless it
// is already loaded there. Called at every launch: some nanoseconds if the thread has launched it before.
int LoadFunction(const void* function);

}  // namespace vramscope::simulated
