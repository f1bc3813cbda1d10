// SPDX-License-Identifier: Apache-2.0
// Prepares the recording when torch is fully loaded and the program is about to use it. Tests whether torch's
// calls reach the hooks, and loads the bridge (deep_window.h).
//
// In a Python program, vramscope's Python shim reports this moment (vramscope_torch_ready). If the shim has
// not started, the hooks of blocks start it (python_route.h). In a C++ program, the moment is the first
// registered parameter or the first optimizer step.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// Implements vramscope_torch_ready. Further calls are allowed, but not inside an allocator.
uint32_t TorchReady();

// Like TorchReady, for a process without Python. Does nothing if Python runs, or at further calls.
void CxxProgramReady();

// True when a Python interpreter runs in this process.
bool PythonRuns();

}  // namespace vramscope::injector
