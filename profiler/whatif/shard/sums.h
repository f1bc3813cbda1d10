// SPDX-License-Identifier: Apache-2.0
// Gradients of tensors that several FSDP units receive: for example, each layer of a decoder receives the
// encoder's output. A unit has an autograd node on its inputs (RegisterPostBackwardFunction in
// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py). Its own gradients are summed first, for this
// node:
//
//   one model      sum ── += layer 1's k ── += layer 1's v            each is freed when it has been added
//   units          layer 1's k ── layer 1's k + v, a new block ── sum += that, when the unit is done
//
// The total may need a new block: if the buffer has gaps, or if something else also holds it (accumulate in
// torch/csrc/autograd/input_buffer.cpp). It is allocated when the unit is done.
#pragma once

#include <functional>
#include <vector>

#include "profiler/whatif/shard/shard.h"

namespace vramscope::whatif {

// A sum inside one unit. The first unit in backward has none.
struct SumOfUnit {
  const Unit* unit = nullptr;
  BlockIndex gradient;  // the first gradient of the unit, which waits
  OpIndex second;       // operator that adds the second gradient, into a new block; kNone: none
  OpIndex made;         // operator that adds the first gradient and allocates the total; kNone: it exists
};

// `units`: the last one is the rest of the model. O(operators x (units + newly allocated sums)).
[[nodiscard]] std::vector<SumOfUnit> SumsOfUnits(const Step& step, const std::vector<Unit>& units);

// Extends lives in `changed`, a sharded step: gradients of a unit's inputs stay until added(unit).
void AddUpByUnit(const Step& step, const std::vector<Unit>& units,
                 const std::function<Position(const Unit&)>& added, Step& changed);

// The last version of a gradient that was converted before it was added.
[[nodiscard]] BlockIndex LastVersionOf(const Step& step, BlockIndex gradient);

}  // namespace vramscope::whatif
