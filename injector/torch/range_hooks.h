// SPDX-License-Identifier: Apache-2.0
// A hook that records each of its calls as a range. The end of the range is recorded even if an exception of
// the program leaves the call.
//
// Why not try or a destructor: both need the C++ runtime's unwinder in our frames. Ours (linked statically)
// is not the unwinder of the program's libraries. A personality routine is called by any unwinder that
// passes; ours records the end and lets the exception pass on.
//
//   Engine::execute throws ──► unwinder ──► our hook's frame: its personality records kRangeEnd ──► handler
#pragma once

#include <cstdint>

#include "trace_format/event.h"

namespace vramscope::injector {

// One open range of this thread, in the frame of the hook that opened it.
struct OpenRange {
  OpenRange* outer;
  trace::RangeKind kind;
  uint32_t name;
  uint64_t id;
};

// The number of Engine::execute calls that returned.
uint64_t BackwardPasses();

void BeginRange(OpenRange& range);
// Ends the innermost open range of this thread.
void EndRange();

// Put this into the body of every function that calls BeginRange. It sets RangePersonality as the function's
// personality routine (encoding 0x1b: PC-relative, four bytes). The compiler sets none, because this code is
// built without exceptions.
#define VRAMSCOPE_ENDS_RANGE_WHEN_UNWOUND() \
  __asm__ volatile(".cfi_personality 0x1b, vramscope_range_personality")

}  // namespace vramscope::injector
