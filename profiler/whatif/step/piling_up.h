// SPDX-License-Identifier: Apache-2.0
// Blocks that accumulate from step to step. Either they are in reference cycles, which Python's garbage
// collector frees many steps later, or a list keeps them.
//
//   step 2   ├─ clamp ─────────────────────────────────────────── still there
//   step 3                     ├─ clamp ───────────────────────── and so will this one be
//
// Why: without this, a prediction would count the blocks of earlier steps as memory that always existed, and
// would free the recorded step's own block. A `del` frees none of them.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Sets StepBlock::piles_up and ::piled. `before`: the step directly before the recorded one. Does nothing if
// that is the first step of the loop. O(changes of the device in both steps + operands).
void FindPilingUp(const timeline::Step& before, Step& step);

}  // namespace vramscope::whatif
