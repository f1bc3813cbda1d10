// SPDX-License-Identifier: Apache-2.0
// A function of the program that this library replaces. Coverage: missing (no such symbol), hooked (found),
// proven (called).
#pragma once

#include <atomic>
#include <cstddef>

#include "trace_format/event.h"

namespace vramscope::injector {

struct Hook {
  const char* symbol;  // mangled; several rows may be one function
  const char* name;    // demangled
  void* ours;
  std::atomic<void*> found;  // the real function, set when the symbol was found
  std::atomic<bool> proven;  // our function was called
};

// Looks up hooks that are not yet known. Walks the loaded objects once.
void FindRealFunctions(Hook* hooks, size_t count);

// The real function of a called hook. Records kProven the first time. nullptr if no object defines it.
void* ProveHook(Hook& hook);

// The best state of the hooks with that name (a function may have several manglings).
trace::CoverageState StateOfHook(const Hook* hooks, size_t count, const char* name);

}  // namespace vramscope::injector
