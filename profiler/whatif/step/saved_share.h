// SPDX-License-Identifier: Apache-2.0
// Measures which share of its block a saved tensor uses, and fills in release times that were not recorded.
//
// A saved view keeps its whole block alive, but a copy of the view needs only the elements of the view.
// Example: query, key and value are three views of one block. After offload to the host, they return as three
// blocks of a third each.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Sets Saved::released of tensors whose release was not recorded. These tensors are in a container that
// releases its tensors together: a list (the weights of cudnn_rnn) or an autograd.Function
// (PyNode::release_variables in torch/csrc/autograd/python_function.cpp). The release time is the last known
// release time of the node's tensors. If that time is unknown, the release time is the time at which one of
// the node's saved blocks is freed while the node runs, otherwise the end of the node. Does nothing for a
// backward pass that retained the graph.
void ReleaseUnseen(Step& step);

// Sets Saved::released for nodes that never run, because the loss does not depend on their results. Example:
// torch.isfinite(x).all(). Such a node is destroyed with its result and then releases its saved tensors. The
// release time is the earlier of two times. The first is the first free of one of the node's saved blocks.
// The second is the free of the last tensor computed from the result, if no node that runs received one of
// these tensors. Saved::released is unchanged if both times are after the step.
void ReleaseNeverRun(Step& step);

// Assigns the tensors that an in-place operator on a view saved to the CopySlices node. An in-place operator
// on a view creates its own node, a CopySlices node that contains this node, and a node for the view
// (rebase_history in torch/csrc/autograd/variable.cpp). Backward runs the inner node as a part of CopySlices.
// The saved tensors of the inner node are released after CopySlices. O(saved tensors).
void GiveToCopySlices(Step& step);

// Sets Saved::share and Saved::gaps from operands that are the same tensor. First calls the three functions
// above. O(operands).
void MeasureSaved(Step& step);

}  // namespace vramscope::whatif
