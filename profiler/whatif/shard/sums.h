// SPDX-License-Identifier: Apache-2.0
// Finds gradients that FSDP units sum up, and extends their lifetimes in a sharded step. Such a gradient
// belongs to a tensor that several units receive, such as an encoder's output in each decoder layer. A unit
// has an autograd node on its inputs (RegisterPostBackwardFunction in
// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py), so the gradients inside the unit are summed
// first:
//
//   one model      sum ── += layer 1's k ── += layer 1's v            each is freed when it has been added
//   units          layer 1's k ── layer 1's k + v, a new block ── sum += that, when the unit is done
//
// The total needs a new block if the existing gradient has gaps between its elements or is shared (accumulate
// in torch/csrc/autograd/input_buffer.cpp).
#pragma once

#include <functional>
#include <vector>

#include "profiler/whatif/shard/shard.h"

namespace vramscope::whatif {

// A sum of gradients inside one unit. The unit that runs first in backward has no such sum.
struct SumOfUnit {
  const Unit* unit = nullptr;
  BlockIndex gradient;  // the unit's first gradient; kept until the unit's backward ends
  OpIndex second;  // operator that adds the second gradient, into a new block; kNone if there is only one
  OpIndex made;    // operator that adds the first gradient and allocates the total; kNone if the total exists
};

// Returns the sums of all units. The last element of `units` is the part of the model outside all units.
// O(operators x (units + new sums)).
[[nodiscard]] std::vector<SumOfUnit> SumsOfUnits(const Step& step, const std::vector<Unit>& units);

// Extends lifetimes in the sharded step `changed`: the gradients of a unit's inputs stay alive until
// added(unit).
void AddUpByUnit(const Step& step, const std::vector<Unit>& units,
                 const std::function<Position(const Unit&)>& added, Step& changed);

// Returns the last copy of a gradient that was converted before it was added.
[[nodiscard]] BlockIndex LastVersionOf(const Step& step, BlockIndex gradient);

}  // namespace vramscope::whatif
