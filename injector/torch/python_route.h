// SPDX-License-Identifier: Apache-2.0
// Starts the recorder's Python code (the shim) from native code. This is needed if sitecustomize does not
// run: with python -I, -S and -E, in embedded interpreters, and after attach.
//
//   first tensor ── shim has not called ──► Py_AddPendingCall ──► main thread: vramscope_shim.start()
//
// After the start, the shim waits for the end of `import torch`.
#pragma once

#include <atomic>

namespace vramscope::injector {

// True until the shim has started, has been requested by AskPythonForShim, or is known to be unnecessary.
extern std::atomic<bool> shim_undecided;

// Sets shim_undecided to false. Call when the shim has called the injector, or if the shim is not needed.
void ShimIsDecided();

// Requests that the main thread starts the shim, if this process runs Python and the recording uses the shim.
void AskPythonForShim();

// For a recording that begins in a running program: requests that the main thread starts the shim.
void StartShimInPython();
// Requests that the main thread removes the shim, and waits at most `patience_ms` milliseconds. True if the
// shim is removed. False if the main thread is busy; the main thread removes the shim later. Call again to
// check.
bool StopShimInPython(int patience_ms);
// Repeats StartShimInPython if the main thread could not start the shim at the last request. Cheap otherwise.
void StartShimInPythonIfItWasNoMoment();

// Call at each allocation of a block. Takes one load if shim_undecided is false.
inline void ConsiderShim() {
  if (__builtin_expect(shim_undecided.load(std::memory_order_relaxed), 0)) AskPythonForShim();
}

}  // namespace vramscope::injector
