// SPDX-License-Identifier: Apache-2.0
// What one segment hands to later ones past its result: it writes it into an object that all of them are
// given, as keys and values that later layers use too.
//
//   for layer in layers: x = layer(x, shared)       shared[kind] = keys, values     in a layer
//                                                   keys, values = shared[kind]     in a later one
//
// Why checkpoints ask: a result that is made again is nobody's, but an object that is written into once more
// holds what was made again, with its graph, as long as anybody has the object.
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct HandedAside {
  uint32_t block = model::kNone;
  uint32_t segment = 0;           // that makes it
  uint32_t named = model::kNone;  // which one operators say that it is: itself, or what it is a copy of
};

// `calls`: of the segments, into Step::modules, in order, none inside another. In the order of the blocks.
// Blocks that no variable of those that call a later segment has, nor one of its own when it begins, though
// it works on them. Nothing where variables were not recorded. O(operands + variables).
[[nodiscard]] std::vector<HandedAside> FindHandedAside(const Step& step, const std::vector<uint32_t>& calls);

}  // namespace vramscope::whatif
