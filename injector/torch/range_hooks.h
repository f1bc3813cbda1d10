// SPDX-License-Identifier: Apache-2.0
// Hooks that record the begin and the end of each call as a range. The end is recorded even if the call
// throws an exception.
//
// Our functions cannot use try or destructors for this. Both would need the unwinder of our own C++ runtime,
// but the program's libraries may use another unwinder. Every unwinder calls the personality routine of each
// frame. Our personality routine records the end, and the exception continues to its handler.
//
//   Engine::execute throws ──► unwinder ──► personality routine of our frame: kRangeEnd ──► exception handler
#pragma once

#include <cstdint>

#include "trace_format/event.h"

namespace vramscope::injector {

// A range of this thread that has begun but not ended. The object lies in the stack frame of its hook.
struct OpenRange {
  OpenRange* outer;
  trace::RangeKind kind;
  uint32_t name;
  uint64_t id;
};

// The number of Engine::execute calls that have returned.
uint64_t BackwardPasses();

void BeginRange(OpenRange& range);
// Ends the innermost open range of this thread.
void EndRange();

// Every function that calls BeginRange must contain this macro. The macro sets vramscope_range_personality as
// the function's personality routine (encoding 0x1b: PC-relative, four bytes). The compiler itself sets none,
// because this library is compiled without exceptions.
#define VRAMSCOPE_ENDS_RANGE_WHEN_UNWOUND() \
  __asm__ volatile(".cfi_personality 0x1b, vramscope_range_personality")

}  // namespace vramscope::injector
