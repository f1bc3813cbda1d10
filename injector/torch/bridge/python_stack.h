// SPDX-License-Identifier: Apache-2.0
// The Python stack of the calling thread, as an id of the host's table.
//
// Uses documented CPython functions, found by name: fits any Python 3, and works without Python. A capture
// takes the GIL: about 1 us. So stacks are optional, and only for outermost ops.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::bridge {

// Looks up the CPython functions. False without a usable Python. CapturePythonStack then returns 0.
bool PreparePythonStacks();

// Outermost frame first, as "GPT.forward (models/gpt.py:42)". 0 if the thread runs no Python. Takes the GIL:
// never call it with a lock that Python code may need (a running autograd node's).
uint32_t CapturePythonStack();

// Returns 0 if the thread does not hold the GIL. Never waits, so the caller may hold a lock.
uint32_t CapturePythonStackWithoutWaiting();

}  // namespace vramscope::bridge
