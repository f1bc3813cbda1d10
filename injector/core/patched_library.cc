// SPDX-License-Identifier: Apache-2.0
#include "injector/core/patched_library.h"

namespace patched {

// Not inlined: otherwise a compiler may inline a function that the loader may replace.
__attribute__((noinline)) int Answer(int question) { return question + 1; }
int Oracle::Ask(int question) { return question + 2; }

int CallAnswer(int question) { return Answer(question); }

int AskOracle(int question) {
  static Oracle* const oracle = new Oracle;  // on the heap: the call below must go through the vtable
  Oracle* volatile any = oracle;
  return any->Ask(question);
}

}  // namespace patched
