// SPDX-License-Identifier: Apache-2.0
// How much of its block a tensor that autograd keeps really is.
//
// Why it matters: kept, a view costs its whole block; copied, it costs its own elements. Three views of one
// block (query, key, value) that go to the host come back as three blocks of a third.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// A node lets go of all that it keeps at once, but not always with a call for each tensor: those of a list
// (the weights of cudnn_rnn) and all of an autograd.Function (PyNode::release_variables in
// torch/csrc/autograd/python_function.cpp) go with their container. These get Saved::released as the others
// of their node; where none was seen, when a block went that it kept, or when it had run. Not in a run of
// backward that let go of nothing, since it kept its graph.
void ReleaseUnseen(Step& step);

// A node that no run of backward reaches, as the loss does not depend on what it made (a pooled output that
// nobody looks at), goes with what was made, and lets go of all that it keeps then: the first of its blocks
// that went tells when at the latest, and what was made, where no other node was given that: of
// torch.isfinite(x).all() its first operator keeps x until its result goes. Not where the graph outlives the
// step, and none of them went.
void ReleaseNeverRun(Step& step);

// An operator in place on a view makes a node of its own, and then CopySlices, which has that within, and a
// node for the view (rebase_history in torch/csrc/autograd/variable.cpp). Backward runs the inner node as
// part of CopySlices and not by itself. What it keeps goes when CopySlices has run: what addcmul_() is given
// it keeps before CopySlices is made, and what relu_() makes only after the view's node. O(kept tensors).
void GiveToCopySlices(Step& step);

// Fills Saved::share and Saved::gaps, from the operands that are the same tensor; and
// Saved::node and Saved::released by the three above. O(operands).
void MeasureSaved(Step& step);

}  // namespace vramscope::whatif
