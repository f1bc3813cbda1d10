// SPDX-License-Identifier: Apache-2.0
// The NVTX injection library that the user had set before ours, and its functions, which ours call.
//
// Why: NVTX_INJECTION64_PATH names one library. A user who profiles with another tool at the same time has
// already set it. The collector then passes that path on in VRAMSCOPE_NVTX_NEXT. The tool sees what it would
// see without us, with its own handles and results.
//
//   program ──► our function ──► record ──► the tool's function
//           ◄───────────── the tool's result ─────────────────┘
#pragma once

#include <atomic>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

// One function pointer of the program that ours replaces. A process may have several instances of NVTX, but a
// slot has one `next`. An instance that would need a different `next` is left to the other tool.
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
// A function of the other injection, whose library is loaded at first use; nullptr if there is none.
void* FindInNext(const char* function);

// Records in the trace which libraries listen.
void RecordNvtxCoverage(const char* hook, bool chained);

// Puts our function into one pointer of the program. `before` is its value before the other injection was
// called, `now` its current value. Returns the value it should have.
AnyFunction Installed(Slot& slot, AnyFunction before, AnyFunction now);

}  // namespace vramscope::injector::nvtx
