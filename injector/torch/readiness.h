// SPDX-License-Identifier: Apache-2.0
// When torch is fully loaded and about to be used: hooks are tested and the bridge is loaded.
//
// In Python, the shim reports this moment (vramscope_torch_ready). If the shim has not started, the hooks of
// blocks start it (python_route.h). In C++, this moment is the first registered parameter or optimizer step.
#pragma once

#include <cstdint>

namespace vramscope::injector {

// Implements vramscope_torch_ready. May be called again. Not inside an allocator.
uint32_t TorchReady();

// For a process without Python. Does nothing with Python, or the second time.
void CxxProgramReady();

// True when a Python interpreter runs in this process.
bool PythonRuns();

}  // namespace vramscope::injector
