// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/given_back.h"

#include <algorithm>
#include <numeric>

#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {

using model::kNone;

std::vector<size_t> CastOrder(std::span<const Operand> inputs) {
  std::vector<size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return inputs[a].argument > inputs[b].argument; });
  return order;
}

bool GivesBack(const Step& step, const Versions& versions, uint32_t op) {
  const Op& softmax = step.ops[op];
  const std::string_view name = step.NameOf(softmax);
  if (name != "aten::softmax" && name != "aten::log_softmax") return false;
  if (softmax.dtype == 0 || softmax.input_count == 0 || softmax.output_count == 0) return false;
  const Operand& x = InputsOf(step, softmax)[0];
  if (!IsFloat(x) || !versions.Known(x.block) || versions.TypeOf(x.block) != kFloatType) return false;
  const uint32_t by = versions.WidenedBy(x.block), result = OutputsOf(step, softmax)[0].block;
  if (by == kNone || step.NameOf(step.ops[by]) != "aten::to" || step.ops[by].asks != Asks::kType)
    return false;
  for (uint32_t next = op + 1; next < step.ops.size() && step.ops[next].node == kNone; ++next) {
    const std::span<const Operand> inputs = InputsOf(step, step.ops[next]);
    if (step.ops[next].begin < softmax.end ||
        std::none_of(inputs.begin(), inputs.end(), [&](const Operand& one) { return one.block == result; }))
      continue;
    return step.NameOf(step.ops[next]) != "aten::to" && step.NameOf(step.ops[next]) != "aten::type_as";
  }
  return true;
}

}  // namespace vramscope::whatif
