// SPDX-License-Identifier: Apache-2.0
// Blocks that each step leaves for good: tensors in reference cycles, which go when Python's garbage
// collector runs, which may be many steps later, or those that a list keeps.
//
//   step 2   ├─ clamp ─────────────────────────────────────────── still there
//   step 3                     ├─ clamp ───────────────────────── and so will this one be
//
// Why: the step that is changed shows those of the steps before it as if they had always been there, and its
// own as if they went; and no `del` frees them.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Sets StepBlock::piles_up and ::piled. `before`: the step directly before the recorded one, behind the
// first. O(changes of the device in both steps + operands).
void FindPilingUp(const timeline::Step& before, Step& step);

}  // namespace vramscope::whatif
