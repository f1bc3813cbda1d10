// SPDX-License-Identifier: Apache-2.0
// Gradients of tensors that several FSDP units receive, such as an encoder's output in each decoder layer. A
// unit has an autograd node on its inputs (RegisterPostBackwardFunction in
// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py). The unit's own gradients are summed first:
//
//   one model      sum ── += layer 1's k ── += layer 1's v            each is freed when it has been added
//   units          layer 1's k ── layer 1's k + v, a new block ── sum += that, when the unit is done
//
// The total needs a new block if the gradient to add to has gaps or is shared (accumulate in
// torch/csrc/autograd/input_buffer.cpp).
#pragma once

#include <functional>
#include <vector>

#include "profiler/whatif/shard/shard.h"

namespace vramscope::whatif {

// A sum inside one unit. The unit that comes first in backward has none.
struct SumOfUnit {
  const Unit* unit = nullptr;
  BlockIndex gradient;  // the first gradient of the unit; it waits until the unit is done
  OpIndex second;       // adds the second gradient, into a new block; kNone: there is only one
  OpIndex made;         // adds the first gradient and allocates the total; kNone: the total exists
};

// The last of `units` is the rest of the model. O(operators x (units + new sums)).
[[nodiscard]] std::vector<SumOfUnit> SumsOfUnits(const Step& step, const std::vector<Unit>& units);

// Extends lives in `changed`, a sharded step: gradients of a unit's inputs stay until added(unit).
void AddUpByUnit(const Step& step, const std::vector<Unit>& units,
                 const std::function<Position(const Unit&)>& added, Step& changed);

// The last version of a gradient that was converted before it was added.
[[nodiscard]] BlockIndex LastVersionOf(const Step& step, BlockIndex gradient);

}  // namespace vramscope::whatif
