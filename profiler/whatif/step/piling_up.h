// SPDX-License-Identifier: Apache-2.0
// Blocks that accumulate from step to step. A list keeps them, or reference cycles keep them until Python's
// garbage collector runs.
//
//   step 2   ├─ clamp ─────────────────────────────────────────── still there
//   step 3                     ├─ clamp ───────────────────────── and so will this one be
//
// Without this, a prediction would free the recorded step's block.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Sets StepBlock::piles_up and ::piled. `before`: the step before the recorded one. Does nothing if `before`
// is the loop's first step. O(changes of the device in both steps + operands).
void FindPilingUp(const timeline::Step& before, Step& step);

}  // namespace vramscope::whatif
