// SPDX-License-Identifier: Apache-2.0
// Measures how much of its block a saved tensor uses.
//
// Why it matters: a saved view costs its whole block; a copy of it costs only its own elements. Three views
// of one block (query, key, value) that move to the host come back as three blocks of a third each.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Fills Saved::released of tensors whose release was not recorded. A node releases everything that it saved
// at once, but not always with one call per tensor. Tensors that were saved in a list (the weights of
// cudnn_rnn), and all tensors that an autograd.Function saved (PyNode::release_variables in
// torch/csrc/autograd/python_function.cpp), are freed with their container. They get the release time of the
// node's other tensors. If none was recorded, they get the time when a block that the node saved was freed,
// or else the end of the node. Unchanged if the backward pass released nothing, because it retained its
// graph.
void ReleaseUnseen(Step& step);

// Fills Saved::released for nodes that never run. Backward never reaches a node if the loss does not depend
// on its result (a pooled output that nobody reads). Such a node is destroyed with its result, and then
// releases everything that it saved. The release was no later than the first free of one of its saved blocks.
// If no other node received its result, the release was also no later than the free of that result: for
// torch.isfinite(x).all(), the first operator keeps x until its result is freed. Unchanged if the graph
// outlives the step and none of these blocks was freed.
void ReleaseNeverRun(Step& step);

// Moves to the CopySlices node everything that an in-place operator on a view saved. Such an operator makes
// its own node, then a CopySlices node that contains it, and a node for the view (rebase_history in
// torch/csrc/autograd/variable.cpp). Backward runs the inner node as part of CopySlices, not by itself, so
// its saved tensors are released when CopySlices has run. Inputs of addcmul_() are saved before CopySlices is
// made; the result of relu_() is saved only after the view's node is made. O(saved tensors).
void GiveToCopySlices(Step& step);

// Fills Saved::share and Saved::gaps, from the operands that are the same tensor. Fills Saved::node and
// Saved::released by the three functions above. O(operands).
void MeasureSaved(Step& step);

}  // namespace vramscope::whatif
