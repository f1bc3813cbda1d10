// SPDX-License-Identifier: Apache-2.0
// The injection that was set before ours, and the functions of it that ours call through to.
//
// Why: NVTX_INJECTION64_PATH names one library. A user who profiles with another tool at the same time has
// set it already; the collector then passes that path on in VRAMSCOPE_NVTX_NEXT, and what the tool would see
// without us it sees with us, with its own handles and results.
//
//   program ──► our function ──► record ──► the tool's function
//           ◄───────────── the tool's result ─────────────────┘
#pragma once

#include <atomic>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

// One function of the program that we stand in for. `next` is the same in all instances of NVTX in the
// process: where another instance has another one, that instance is left to the tool.
struct Slot {
  unsigned position;
  AnyFunction ours;
  std::atomic<AnyFunction> next;
  bool installed;  // in some instance
};

// The function behind ours, or nullptr.
template <typename Function>
Function* NextOf(const Slot& slot) {
  return reinterpret_cast<Function*>(slot.next.load(std::memory_order_relaxed));
}

// The path of the other injection, "" when none is set.
const char* NextPath();
// A function of the other injection, its library loaded at first use; nullptr when there is none.
void* FindInNext(const char* function);

// Says in the trace what listens.
void RecordNvtxCoverage(const char* hook, bool chained);

// Puts our function into one pointer of the program. `before`: what it held before the other injection was
// asked; `now`: what it holds. Returns what it should hold.
AnyFunction Installed(Slot& slot, AnyFunction before, AnyFunction now);

}  // namespace vramscope::injector::nvtx
