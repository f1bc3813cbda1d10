// SPDX-License-Identifier: Apache-2.0
// How sure a row of the ledger is (overheads.def): what the program asked for is exact, the rest is modelled.
#pragma once

#include "injector/simulated_cuda/device/gpu.h"

namespace vramscope::simulated {

#define OVERHEAD_CONSTANT(name, value) inline constexpr uint64_t name = value;
#include "injector/simulated_cuda/overheads.def"

struct Certainty {
  const char* basis;      // "exact", "measured", "derived", "given" by the user, "modelled"
  unsigned low_percent;   // of the row's bytes, what a GPU takes at least
  unsigned high_percent;  // and at most
};

// `call` as the ledger has it; `context` says how the context's size is known.
Certainty CertaintyOf(const char* call, ContextBasis context);

}  // namespace vramscope::simulated
