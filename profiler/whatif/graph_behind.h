// SPDX-License-Identifier: Apache-2.0
// What a tensor's graph of autograd goes back to. Whoever holds the tensor holds that graph: backward lets go
// of what its own graph's nodes keep, but not of what one keeps that was only computed again beside it.
//
//   segment   a ── b ── state ── c ── out       held: state, and what the nodes of a, b and state keep
#pragma once

#include <vector>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// By node, whether it was made in forward from `from` on and what it computed went into the block. No node is
// where the program took the block's tensor out of its graph (detach()), or computed it without one.
// O(operators from there on to the last that has the block as a result).
[[nodiscard]] std::vector<bool> GraphBehind(const Step& step, uint32_t block, Position from);

}  // namespace vramscope::whatif
