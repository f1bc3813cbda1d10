// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/added_gradients.h"

#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {

using model::kNone;

void Repoint(uint32_t from, uint32_t to, Step& step) {
  for (Operand& operand : step.operands) {
    if (operand.block == from) operand.block = to;
  }
  for (Saved& saved : step.saved) {
    if (saved.block == from) saved.block = to;
  }
  Drop(step.blocks[from]);
}

uint32_t AdditionTo(const Step& step, uint32_t first) {
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    if (op.node == kNone || op.parent != kNone || step.NameOf(op) != "aten::add" || op.input_count < 2 ||
        op.output_count < 1 || op.name == step.nodes[op.node].name)
      continue;
    const uint32_t sum = OutputsOf(step, op)[0].block;
    if (InputsOf(step, op)[0].block == first && sum != first && sum != kNone &&
        step.blocks[sum].begin >= op.begin)
      return i;
  }
  return kNone;
}

void AddInPlace(uint32_t addition, Step& step) {
  const uint32_t into = InputsOf(step, step.ops[addition])[0].block;
  const uint32_t result = OutputsOf(step, step.ops[addition])[0].block;
  step.ops[addition].name = TextOf(step, "aten::add_");
  const StepBlock& sum = step.blocks[result];
  StepBlock& kept = step.blocks[into];
  kept.end = sum.end;
  kept.accumulated = sum.accumulated;
  kept.category = sum.category;
  kept.name = sum.name;
  Repoint(result, into, step);
}

}  // namespace vramscope::whatif
