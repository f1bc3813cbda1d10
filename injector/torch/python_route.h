// SPDX-License-Identifier: Apache-2.0
// The second way to the Python shim: python -I, -S and -E switch sitecustomize off, embedded interpreters may
// not have it, and a process that is attached to is past it.
//
//   first tensor ── shim has not called ──► Py_AddPendingCall ──► main thread: vramscope_shim.start()
//
// The shim itself waits for the end of `import torch` if that is still going on.
#pragma once

#include <atomic>

namespace vramscope::injector {

// True until it is decided who starts the shim, or that nobody can.
extern std::atomic<bool> shim_undecided;

// The shim has called, or this process needs none.
void ShimIsDecided();

void AskPythonForShim();

// On demand: asks the main thread of the interpreter to start the shim, and to take it out again. The second
// waits until that is done, at most so long, and says whether it is: a main thread that is busy in native
// code, or in the middle of something, does it later. Then ask again.
void StartShimInPython();
bool StopShimInPython(int patience_ms);
// The program may have been in the middle of something that must not be disturbed: asks once more. Cheap.
void StartShimInPythonIfItWasNoMoment();

// Called at block events: one load when all is decided.
inline void ConsiderShim() {
  if (__builtin_expect(shim_undecided.load(std::memory_order_relaxed), 0)) AskPythonForShim();
}

}  // namespace vramscope::injector
