// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/viewed_tensors.h"

#include <algorithm>

namespace vramscope::whatif {

using model::kNone;

ViewedTensors::ViewedTensors(const Step& step) : step_(step), wanted_(step.blocks.size(), false) {
  for (const Op& op : step.ops) {
    if (op.node != kNone || step.NameOf(op) != "aten::to") continue;
    for (const Operand& operand : InputsOf(step, op))
      if (operand.block != kNone) wanted_[operand.block] = true;
  }
}

void ViewedTensors::End(uint32_t op) {
  const std::span<const Operand> inputs = InputsOf(step_, step_.ops[op]);
  for (const Operand& result : OutputsOf(step_, step_.ops[op])) {
    if (result.block == kNone || !wanted_[result.block]) continue;
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const Operand& input) { return input.tensor == result.tensor; }))
      continue;  // handed on as it is
    const uint32_t known = Of(result);
    if (known != kNone && made_[known].op >= op) continue;  // by an operator inside
    const auto viewed = std::find_if(inputs.begin(), inputs.end(),
                                     [&](const Operand& input) { return input.block == result.block; });
    const uint32_t from = viewed == inputs.end() ? kNone : Of(*viewed);
    at_[result.tensor] = static_cast<uint32_t>(made_.size());
    made_.push_back({op, from});
  }
}

uint32_t ViewedTensors::Of(const Operand& operand) const {
  if (operand.block == kNone || !wanted_[operand.block]) return kNone;
  const auto found = at_.find(operand.tensor);
  return found == at_.end() ? kNone : found->second;
}

bool ViewedTensors::IsSeenThrough(const Operand& operand, uint32_t tensor) const {
  uint32_t seen = Of(operand);
  while (seen != kNone && seen > tensor) seen = made_[seen].from;  // which was there before
  return seen != kNone && seen == tensor;
}

bool ViewedTensors::IsOlder(const Operand& operand, uint32_t op) const {
  for (uint32_t seen = Of(operand); seen != kNone; seen = made_[seen].from)
    if (made_[seen].op < op) return true;
  return false;
}

}  // namespace vramscope::whatif
