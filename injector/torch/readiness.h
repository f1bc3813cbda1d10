// SPDX-License-Identifier: Apache-2.0
// What happens when torch is fully loaded and the program is about to use it: the hooks are tested and the
// bridge is loaded.
//
// In Python, the shim reports this moment (vramscope_torch_ready). If the shim has not started, block_hooks
// make Python start it (python_route.h). In a C++ program, it is the first registered parameter or the first
// optimizer step.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// The implementation of vramscope_torch_ready. May be called again. Not from inside an allocator.
uint32_t TorchReady();

// Like TorchReady, for a process without Python. Does nothing if Python runs, or if it was called before.
void CxxProgramReady();

// True when a Python interpreter runs in this process.
bool PythonRuns();

}  // namespace vramscope::injector
