// SPDX-License-Identifier: Apache-2.0
// The second way to start the Python shim, if sitecustomize does not run. Cases: python -I, -S and -E,
// embedded interpreters, attach.
//
//   first tensor ── shim has not called ──► Py_AddPendingCall ──► main thread: vramscope_shim.start()
//
// The shim waits for the end of `import torch`.
#pragma once

#include <atomic>

namespace vramscope::injector {

// True until it is decided whether and how the shim starts.
extern std::atomic<bool> shim_undecided;

// Call when the shim has called, or if it is not needed.
void ShimIsDecided();

void AskPythonForShim();

// On demand: asks the main thread to start the shim, or to remove it. StopShimInPython waits up to
// `patience_ms`; true if the shim is removed. A busy main thread removes it later: call again.
void StartShimInPython();
bool StopShimInPython(int patience_ms);
// Asks again if the shim could not start at the moment of the last request. Cheap.
void StartShimInPythonIfItWasNoMoment();

// Call at block events. Costs one load once decided.
inline void ConsiderShim() {
  if (__builtin_expect(shim_undecided.load(std::memory_order_relaxed), 0)) AskPythonForShim();
}

}  // namespace vramscope::injector
