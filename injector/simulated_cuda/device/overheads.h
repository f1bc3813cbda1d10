// SPDX-License-Identifier: Apache-2.0
// How certain a row of the ledger is (overheads.def): the program's requests are exact, the rest is modeled.
#pragma once

#include "injector/simulated_cuda/device/gpu.h"

namespace vramscope::simulated {

#define OVERHEAD_CONSTANT(name, value) inline constexpr uint64_t name = value;
#include "injector/simulated_cuda/overheads.def"

struct Certainty {
  const char* basis;      // "exact", "measured", "derived", "given" by the user, "modeled"
  unsigned low_percent;   // the least that a GPU takes, in percent of the row's bytes
  unsigned high_percent;  // and the most
};

// `call` is the ledger's text; `context` is how we know the context's size.
Certainty CertaintyOf(const char* call, ContextBasis context);

}  // namespace vramscope::simulated
