// SPDX-License-Identifier: Apache-2.0
// Captures the Python stack of the calling thread, as an id in the recorder's string table.
//
// The code looks up documented CPython functions by name, so it works with any Python 3, and does nothing
// without Python. A capture takes the GIL and costs about 1 us. So stacks are optional, and are captured only
// for outermost operators.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::bridge {

// Looks up the CPython functions. Returns false if there is no usable Python; CapturePythonStack then returns
// 0.
bool PreparePythonStacks();

// Returns the id of the stack, outermost frame first; a frame is written as "GPT.forward (models/gpt.py:42)".
// Returns 0 if the thread runs no Python code. Takes the GIL. Do not call this while holding a lock that
// Python code may need, such as the lock of a running autograd node.
uint32_t CapturePythonStack();

// Like CapturePythonStack, but never waits for the GIL, so the caller may hold a lock. Returns 0 if the
// thread does not hold the GIL.
uint32_t CapturePythonStackWithoutWaiting();

}  // namespace vramscope::bridge
