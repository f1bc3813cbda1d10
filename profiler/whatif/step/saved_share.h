// SPDX-License-Identifier: Apache-2.0
// Measures how much of its block a saved tensor uses.
//
// A saved view costs its whole block; a copy costs only its own elements. Three views of one block (query,
// key, value) come back from the host as three blocks of a third each.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Fills Saved::released of tensors without a recorded release. They are in a container that frees its tensors
// together: a list (the weights of cudnn_rnn) or an autograd.Function (PyNode::release_variables in
// torch/csrc/autograd/python_function.cpp). They get the release time of the node's other tensors. If that is
// unknown: the time when a saved block is freed during the node, or else the node's end. Does nothing if
// backward retained its graph, and so released nothing.
void ReleaseUnseen(Step& step);

// Fills Saved::released for nodes that never run, because the loss does not depend on their results. Such a
// node is destroyed with its result, and releases all that it saved. The release was no later than the first
// free of one of its saved blocks. If no other node received the result, the release was also no later than
// the result's free. Example: torch.isfinite(x).all(). Unchanged if the graph outlives the step and none of
// the saved blocks was freed.
void ReleaseNeverRun(Step& step);

// Moves to the CopySlices node everything that an in-place operator on a view saved. Such an operator makes
// its own node, then a CopySlices node around it, and a node for the view. Source: rebase_history in
// torch/csrc/autograd/variable.cpp. Backward runs the inner node as part of CopySlices. Saved tensors of the
// inner node are released after CopySlices. O(saved tensors).
void GiveToCopySlices(Step& step);

// Fills Saved::share and Saved::gaps from operands that are the same tensor. Also fills Saved::node and
// Saved::released, by the functions above. O(operands).
void MeasureSaved(Step& step);

}  // namespace vramscope::whatif
