// SPDX-License-Identifier: Apache-2.0
// A hook: a function of the program that this library replaces. Its coverage state is "missing" (no loaded
// object defines the symbol), "hooked" (the symbol was found) or "proven" (the program has called our
// function).
#pragma once

#include <atomic>
#include <cstddef>

#include "trace_format/event.h"

namespace vramscope::injector {

struct Hook {
  const char* symbol;  // mangled name; several hooks may share a `name`
  const char* name;    // demangled name
  void* ours;
  std::atomic<void*> found;  // the real function, set when the symbol was found
  std::atomic<bool> proven;  // our function was called
};

// Searches the loaded objects for the real function of every hook whose `found` is nullptr.
void FindRealFunctions(Hook* hooks, size_t count);

// Returns the real function of a hook that the program has called, or nullptr if no object defines it. The
// first call for a hook records kProven.
void* ProveHook(Hook& hook);

// Returns the best state of all hooks with that `name`. A function may have several mangled names, one for
// each hook.
trace::CoverageState StateOfHook(const Hook* hooks, size_t count, const char* name);

}  // namespace vramscope::injector
