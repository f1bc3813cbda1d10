// SPDX-License-Identifier: Apache-2.0
// The moment when torch is whole and the program is about to use it: hooks are tested, the bridge is loaded.
//
// In Python the shim tells (vramscope_torch_ready); without it, block_hooks ask Python to run it
// (python_route.h). A C++ program tells by its first registered parameter or its first optimizer step.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// What vramscope_torch_ready answers. May be called again. Not from inside an allocator.
uint32_t TorchReady();

// The same for a process that has no Python; does nothing in others and after the first call.
void CxxProgramReady();

// True when a Python interpreter runs in this process.
bool PythonRuns();

}  // namespace vramscope::injector
