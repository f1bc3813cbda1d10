// SPDX-License-Identifier: Apache-2.0
// Machine code on the device: of modules, which have it when they are loaded, and of functions, which get it
// when they are first used (CUDA C++ Programming Guide, "Lazy Loading").
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// `bytes` go to the calling thread's device, in blocks that all code of the process shares; of the library
// that `owner` is an address in. 0 or an error of CUDA.
int LoadCode(uint64_t bytes, const void* owner);

// Has the thread's device load what vramscope_simulated_code said of the function, unless it has. Called at
// every launch: some nanoseconds when the thread has launched it before.
int LoadFunction(const void* function);

}  // namespace vramscope::simulated
