// SPDX-License-Identifier: Apache-2.0
// The NVTX injection library that the user had set before ours, and its functions, which ours call.
//
// NVTX_INJECTION64_PATH names one library. The collector passes the user's path on in VRAMSCOPE_NVTX_NEXT.
// The tool sees the same as without us.
//
//   program ──► our function ──► record ──► the tool's function
//           ◄───────────── the tool's result ─────────────────┘
#pragma once

#include <atomic>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

// One function pointer of the program that ours replaces. A slot has one `next`. An instance of NVTX that
// needs another `next` is left to the other tool.
struct Slot {
  unsigned position;
  AnyFunction ours;
  std::atomic<AnyFunction> next;
  bool installed;  // in some instance
};

// The function of the other injection that ours calls, or nullptr.
template <typename Function>
Function* NextOf(const Slot& slot) {
  return reinterpret_cast<Function*>(slot.next.load(std::memory_order_relaxed));
}

// The path of the other injection, "" if none is set.
const char* NextPath();
// A function of the other injection (loaded at first use); nullptr if there is none.
void* FindInNext(const char* function);

void RecordNvtxCoverage(const char* hook, bool chained);

// Returns the value for one pointer of the program: our function, or `now` if the pointer is left to the
// other tool. `before`, `now`: the pointer's values before and after the other injection was called.
AnyFunction Installed(Slot& slot, AnyFunction before, AnyFunction now);

}  // namespace vramscope::injector::nvtx
