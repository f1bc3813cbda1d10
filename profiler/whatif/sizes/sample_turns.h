// SPDX-License-Identifier: Apache-2.0
// Programs that put each sample of a batch through the model by itself, one turn of a loop after the other.
//
//   x [4, 48, 16, 16] ─┬─ x[0] ─ layers ─ layers ─ ... ─┐
//                      ├─ x[1] ─ layers ─ layers ─ ... ─┤ stack ─ loss
//                      └─ ...                           ┘
//
// Why refused: another batch is more or fewer turns of that loop, each with all that it computes, adds to
// gradients and drops again. What is made of samples before or behind a model, as targets are, is followed
// (sample_parts.h).
#pragma once

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// Where the batch is in the step, for a change of it. Fails with a sentence as FollowBatch does, where a good
// part of what autograd keeps is of one sample alone, for each of them, and where something of it is of one
// piece of so many rows (fixed_pieces.h), or kept from a step before (kept_samples.h). O(operands) the first
// time.
[[nodiscard]] Result<const BatchAxis*> BatchToScale(const Step& step);

}  // namespace vramscope::whatif
