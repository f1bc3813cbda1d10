// SPDX-License-Identifier: Apache-2.0
// Finds blocks that accumulate from step to step, because a list keeps them, or because reference cycles keep
// them until Python's garbage collector runs.
//
//   step 2   ├─ clamp ─────────────────────────────────────────── still alive
//   step 3                     ├─ clamp ───────────────────────── will stay alive too
//
// Without this, a prediction would assume that the recorded step's block is freed.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Sets StepBlock::piles_up and StepBlock::piled. `before`: the step before the recorded step. Does nothing if
// `before` is the first step. O(changes of the device in both steps + operands).
void FindPilingUp(const timeline::Step& before, Step& step);

}  // namespace vramscope::whatif
