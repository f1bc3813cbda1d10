// SPDX-License-Identifier: Apache-2.0
// Calls the NVTX injection library that the user had set (the library of another tool, such as Nsight
// Systems) from ours.
//
// NVTX_INJECTION64_PATH can name only one library. The collector sets it to our library and passes the user's
// path in VRAMSCOPE_NVTX_NEXT. The other tool gets every NVTX call that it would get without us.
//
//   program ──► our function ──► record ──► the tool's function
//           ◄───────────── the tool's result ─────────────────┘
#pragma once

#include <atomic>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

// One NVTX function and our replacement. A program may contain several instances of NVTX; each one has its
// own pointer for the function. If two instances need a different `next`, our function is installed only in
// the first; the second keeps the other tool's function.
struct Slot {
  unsigned position;
  AnyFunction ours;
  std::atomic<AnyFunction> next;  // the other tool's function, which `ours` calls; nullptr = none
  bool installed;                 // true if at least one instance of NVTX calls `ours`
};

// Returns the other tool's function that our function calls; nullptr if there is none.
template <typename Function>
Function* NextOf(const Slot& slot) {
  return reinterpret_cast<Function*>(slot.next.load(std::memory_order_relaxed));
}

// Returns the path of the other tool's injection library; "" if the user set none.
const char* NextPath();
// Finds a function in the other tool's library, which is loaded at the first call; nullptr if there is none.
void* FindInNext(const char* function);

// Adds `hook` to the coverage of the trace. `chained`: true if our function calls the other tool's function.
void RecordNvtxCoverage(const char* hook, bool chained);

// Returns the new value for one function pointer of NVTX: our function, or `now` if the pointer keeps the
// other tool's function. `before`, `now`: the pointer's values before and after the other tool's library was
// initialized.
AnyFunction Installed(Slot& slot, AnyFunction before, AnyFunction now);

}  // namespace vramscope::injector::nvtx
