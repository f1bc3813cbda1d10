// SPDX-License-Identifier: Apache-2.0
// The Python stack of the calling thread, as an id of the host's table of stacks.
//
// Only documented CPython functions, found by name at run time: the bridge needs no Python headers, fits any
// Python 3, and in a program without Python there is simply no stack. Ops usually run with the
// GIL released, so a capture takes it: about 1 us, which is why stacks are an option and only outermost ops
// have one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::bridge {

// Looks up the CPython functions. False when this process has no usable Python; CapturePythonStack then
// returns 0.
bool PreparePythonStacks();

// The stack of the calling thread, outermost frame first, frames as "GPT.forward (models/gpt.py:42)"; 0
// when the thread runs no Python. Takes the GIL: never call it while a lock is held that Python code may want
// (autograd nodes hold one while they run).
uint32_t CapturePythonStack();

// The same where the thread has the GIL already, else 0: it waits for nobody, so a lock may be held.
uint32_t CapturePythonStackWithoutWaiting();

}  // namespace vramscope::bridge
