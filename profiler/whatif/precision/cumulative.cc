// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/cumulative.h"

#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {

using model::kNone;

const Operand* Cumulative::Begin(uint32_t op) {
  const Op& begun = step_.ops[op];
  const std::string_view name = step_.NameOf(begun);
  if ((name != "aten::cumsum" && name != "aten::cumprod") || begun.input_count == 0 ||
      begun.output_count == 0 || OutputsOf(step_, begun)[0].block == kNone)
    return nullptr;
  const Operand& operand = InputsOf(step_, begun)[0];
  if (!IsFloat(operand) || !versions_.Known(operand.block) || versions_.TypeOf(operand.block) != low_)
    return nullptr;
  copied_.insert(op);
  return &operand;
}

void Cumulative::TakeGradient(const Operand& gradient, const Op& op) {
  if (!copied_.contains(step_.nodes[op.node].op) || !versions_.Known(gradient.block)) return;
  const uint32_t given = versions_.Current(gradient.block);
  if (versions_.TypeOf(gradient.block) == low_) return;
  versions_.Cast(gradient.block, low_, op.begin + kStride, kNone, gradient);
  saves_.HideUntilEnd(gradient.block, given);
}

}  // namespace vramscope::whatif
