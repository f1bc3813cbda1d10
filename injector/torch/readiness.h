// SPDX-License-Identifier: Apache-2.0
// The moment when torch is fully loaded and the program is about to use it: hooks are tested, the bridge is
// loaded.
//
// In Python the shim reports it (vramscope_torch_ready). Without the shim, block_hooks make Python run it
// (python_route.h). In a C++ program the first registered parameter or the first optimizer step shows it.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The implementation of vramscope_torch_ready. May be called again. Not from inside an allocator.
uint32_t TorchReady();

// The same for a process without Python; does nothing in others and after the first call.
void CxxProgramReady();

// True when a Python interpreter runs in this process.
bool PythonRuns();

}  // namespace vramscope::injector
