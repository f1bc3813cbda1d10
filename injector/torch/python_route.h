// SPDX-License-Identifier: Apache-2.0
// The second way to start the Python shim; the first is sitecustomize. python -I, -S and -E disable
// sitecustomize, embedded interpreters may not have it, and an attached process has already passed it.
//
//   first tensor ── shim has not called ──► Py_AddPendingCall ──► main thread: vramscope_shim.start()
//
// The shim itself waits for the end of `import torch` if that is still in progress.
#pragma once

#include <atomic>

namespace vramscope::injector {

// True until it is decided how the shim starts, or that it cannot.
extern std::atomic<bool> shim_undecided;

// The shim has called, or this process needs none.
void ShimIsDecided();

void AskPythonForShim();

// On demand: asks the main thread of the interpreter to start the shim, and to remove it again. The second
// function waits up to `patience_ms` until the shim is removed, and returns true if it is. A main thread that
// is busy in native code, or in the middle of something, removes it later: call again then.
void StartShimInPython();
bool StopShimInPython(int patience_ms);
// If the last request came while the program must not be disturbed, asks once more. Cheap.
void StartShimInPythonIfItWasNoMoment();

// Called at block events: one load once all is decided.
inline void ConsiderShim() {
  if (__builtin_expect(shim_undecided.load(std::memory_order_relaxed), 0)) AskPythonForShim();
}

}  // namespace vramscope::injector
