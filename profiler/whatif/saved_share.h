// SPDX-License-Identifier: Apache-2.0
// How much of its block a tensor that autograd keeps really is.
//
// Why it matters: kept, a view costs its whole block; copied, it costs its own elements. Three views of one
// block (query, key, value) that go to the host come back as three blocks of a third.
#pragma once

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// A node lets go of all that it keeps at once, but of the tensors of a list without a call for each: the
// weights of cudnn_rnn. These get Saved::released as the others of their node.
void ReleaseLists(Step& step);

// Fills Saved::share and Saved::gaps, from the operands that are the same tensor; and releases lists.
// O(operands).
void MeasureSaved(Step& step);

}  // namespace vramscope::whatif
