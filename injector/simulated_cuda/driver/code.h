// SPDX-License-Identifier: Apache-2.0
// Machine code on the device. A module's code is loaded with it; a function's at first use (CUDA C++
// Programming Guide, "Lazy Loading").
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Charges `bytes` to the thread's device, in blocks that all code of the process shares. `owner`: an address
// in the code's library. Returns 0 or a CUDA error.
int LoadCode(uint64_t bytes, const void* owner);

// Loads the code that vramscope_simulated_code announced for the function, once per device. Called at every
// launch: some nanoseconds after the first.
int LoadFunction(const void* function);

}  // namespace vramscope::simulated
