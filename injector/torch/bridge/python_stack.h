// SPDX-License-Identifier: Apache-2.0
// The Python stack of the calling thread, as an id of the host's table of stacks.
//
// Uses only documented CPython functions, found by name at run time. The bridge needs no Python headers, fits
// any Python 3, and in a program without Python there is simply no stack. Ops usually run with the GIL
// released, so a capture takes it: about 1 us. So stacks are an option, and only outermost ops have one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::bridge {

// Looks up the CPython functions. False if this process has no usable Python; CapturePythonStack then returns
// 0.
bool PreparePythonStacks();

// The stack of the calling thread, outermost frame first, with frames like "GPT.forward (models/gpt.py:42)".
// 0 if the thread runs no Python. Takes the GIL: never call it while holding a lock that Python code may need
// (autograd nodes hold one while they run).
uint32_t CapturePythonStack();

// Like CapturePythonStack, but returns 0 if the thread does not hold the GIL. It never waits, so the caller
// may hold a lock.
uint32_t CapturePythonStackWithoutWaiting();

}  // namespace vramscope::bridge
