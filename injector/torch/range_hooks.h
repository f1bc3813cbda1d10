// SPDX-License-Identifier: Apache-2.0
// A hook that records each call as a range, even if an exception leaves the call.
//
// In our frames, try and destructors would need the unwinder of our C++ runtime, but the program's libraries
// use another one. Any unwinder calls a personality routine. Ours records the end and lets the exception pass
// on.
//
//   Engine::execute throws ──► unwinder ──► our hook's frame: its personality records kRangeEnd ──► handler
#pragma once

#include <cstdint>

#include "trace_format/event.h"

namespace vramscope::injector {

// An open range of this thread, in its hook's frame.
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

// Put this into every function that calls BeginRange. The macro sets vramscope_range_personality as
// personality routine (encoding 0x1b: PC-relative, four bytes). Without exceptions, the compiler sets none.
#define VRAMSCOPE_ENDS_RANGE_WHEN_UNWOUND() \
  __asm__ volatile(".cfi_personality 0x1b, vramscope_range_personality")

}  // namespace vramscope::injector
