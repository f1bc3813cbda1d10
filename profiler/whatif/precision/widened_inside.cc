// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/widened_inside.h"

#include "profiler/whatif/precision/fourier.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {

std::vector<const Operand*> WidenedInside(const Step& step, const Op& op, const Versions& versions) {
  std::vector<const Operand*> widened;
  if (const Operand* const wide = WidenedForTransform(step, op, versions)) widened.push_back(wide);
  if (step.NameOf(op) != "aten::where" || op.parent != model::kNone) return widened;
  const std::span<const Operand> given = InputsOf(step, op);
  if (versions.PromotedOf(given) != kFloatType) return widened;
  for (const Operand& one : given)
    if (IsFloat(one) && versions.Known(one.block) && step.Rank(one.shape) != 0 &&
        versions.TypeOf(one.block) != kFloatType)
      widened.push_back(&one);
  return widened;
}

}  // namespace vramscope::whatif
