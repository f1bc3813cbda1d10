// SPDX-License-Identifier: Apache-2.0
// The certainty of each row of the ledger (overheads.def). The program's own requests are exact; overheads
// such as the context are estimated.
#pragma once

#include "injector/simulated_cuda/device/gpu.h"

namespace vramscope::simulated {

#define OVERHEAD_CONSTANT(name, value) inline constexpr uint64_t name = value;
#include "injector/simulated_cuda/overheads.def"

struct Certainty {
  const char* basis;      // "exact", "measured", "derived", "given" (by the user) or "modeled"
  unsigned low_percent;   // the least bytes on a real GPU, in percent of the row's bytes
  unsigned high_percent;  // the most bytes on a real GPU, in percent of the row's bytes
};

// `call` is LedgerRow::call. `context` tells whether the context's size was measured, derived or given.
Certainty CertaintyOf(const char* call, ContextBasis context);

}  // namespace vramscope::simulated
