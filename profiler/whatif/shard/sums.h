// SPDX-License-Identifier: Apache-2.0
// Gradients of what several of FSDP's units are given, as each layer of a decoder is given what the encoder
// returned. A unit has a node behind its inputs (RegisterPostBackwardFunction in
// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py), for which its own gradients are added up first:
//
//   one model      sum ── += layer 1's k ── += layer 1's v            each goes when it has been added
//   units          layer 1's k ── layer 1's k + v, a new block ── sum += that, when the unit is done
//
// The sum itself may be a new block, where what is added to has gaps or others have it too (accumulate in
// torch/csrc/autograd/input_buffer.cpp): it is made when the unit is done.
#pragma once

#include <functional>
#include <vector>

#include "profiler/whatif/shard/shard.h"

namespace vramscope::whatif {

// Of a unit that was not the first one of backward.
struct SumOfUnit {
  const Unit* unit = nullptr;
  uint32_t gradient = 0;  // block: the unit's first one, which waits
  uint32_t second =
      model::kNone;              // operator: adds its second one, in a block of its own; kNone: there is none
  uint32_t made = model::kNone;  // operator: adds the first one, and makes the sum; kNone: that is there
};

// `units`: the last one is the rest of the model. O(operators x (units + sums that are made anew)).
[[nodiscard]] std::vector<SumOfUnit> SumsOfUnits(const Step& step, const std::vector<Unit>& units);

// Gradients of what units are given wait in `changed`, a sharded step, until `added` of their unit.
void AddUpByUnit(const Step& step, const std::vector<Unit>& units,
                 const std::function<Position(const Unit&)>& added, Step& changed);

// Of a gradient that was converted on its way, the version that was there last.
[[nodiscard]] uint32_t LastVersionOf(const Step& step, uint32_t gradient);

}  // namespace vramscope::whatif
