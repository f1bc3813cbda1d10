// SPDX-License-Identifier: Apache-2.0
// A function of the program that this library replaces. Coverage: missing (no such symbol), hooked (found),
// proven (called).
#pragma once

#include <atomic>
#include <cstddef>

#include "trace_format/event.h"

namespace vramscope::injector {

struct Hook {
  const char* symbol;  // mangled; several hooks may share a `name`
  const char* name;    // demangled
  void* ours;
  std::atomic<void*> found;  // the real function, set when the symbol was found
  std::atomic<bool> proven;  // our function was called
};

// Finds the real functions of hooks that have none yet. Walks the loaded objects once.
void FindRealFunctions(Hook* hooks, size_t count);

// The real function of a called hook. Records kProven the first time. nullptr if no object defines it.
void* ProveHook(Hook& hook);

// The best state of the hooks with that name (a function may have several manglings).
trace::CoverageState StateOfHook(const Hook* hooks, size_t count, const char* name);

}  // namespace vramscope::injector
