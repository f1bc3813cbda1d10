// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/attention/frozen_attention.h"

#include <algorithm>

namespace vramscope::whatif {

using model::kNone;

bool ComputesAllGradients(const Step& step, const Op& op) {
  return op.node != kNone && step.NameOf(op).ends_with("attention_backward");
}

bool IsOfUnneededMask(const Step& step, const Op& op, const std::vector<bool>& needed) {
  const std::span<const Operand> made = OutputsOf(step, op), results = OutputsOf(step, step.ops[op.parent]);
  return std::any_of(results.begin(), results.end(), [&](const Operand& result) {
    return result.argument == kOfMask && result.block != kNone && !needed[result.block] &&
           std::any_of(made.begin(), made.end(),
                       [&](const Operand& one) { return one.block == result.block; });
  });
}

void EndUnneededGradients(const Step& step, const std::vector<bool>& run, const std::vector<bool>& needed,
                          Step& changed) {
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    if (op.parent == kNone || !run[i] || !ComputesAllGradients(step, op)) continue;
    uint32_t function = op.parent;
    while (step.ops[function].parent != kNone) function = step.ops[function].parent;
    for (const Operand& output : OutputsOf(step, op)) {
      if (output.block == kNone || needed[output.block] || step.blocks[output.block].begin < op.begin)
        continue;
      StepBlock& gradient = changed.blocks[output.block];
      gradient.end = std::min(gradient.end, step.ops[function].end - kHair);
    }
  }
}

void LeaveOutSums(const Step& step, const std::vector<bool>& made, Step& changed) {
  for (uint32_t i = 0; i < made.size(); ++i) {
    const uint32_t op = made[i] ? kNone : step.nodes[i].op;
    if (op == kNone || !step.NameOf(step.ops[op]).ends_with("efficient_attention")) continue;
    for (const Operand& output : OutputsOf(step, step.ops[op]))
      if (output.argument == 1 && output.block != kNone) changed.blocks[output.block].requested = 0;
  }
}

}  // namespace vramscope::whatif
