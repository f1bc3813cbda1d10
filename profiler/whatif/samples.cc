// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/samples.h"

#include <map>

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

// Without backward nothing tells a batch from other tensors; it is what the model works on and did not make,
// and what is none of its own.
bool IsInput(const Step& step, const Operand& operand) {
  const StepBlock& block = step.blocks[operand.block];
  if (block.category == Category::kInput) return true;
  const Position begin = step.ForwardBegin();
  return step.OnlyForward() && block.begin < begin && step.ops[operand.op].begin >= begin &&
         block.category != Category::kParameter && block.category != Category::kBuffer &&
         (operand.flags & trace::kTensorRequiresGrad) == 0;
}

}  // namespace

Samples FindSamples(const Step& step) {
  Samples samples;
  std::map<int64_t, uint32_t> votes;
  std::vector<const Operand*> inputs;
  std::vector<bool> seen(step.blocks.size(), false);
  for (const Operand& operand : step.operands) {
    if (operand.block == kNone || seen[operand.block] || !IsInput(step, operand)) continue;
    if (step.Rank(operand.shape) == 0 || !step.shapes[operand.strides].known) continue;
    seen[operand.block] = true;
    ++votes[step.Dims(operand.shape)[0]];
    inputs.push_back(&operand);
  }
  for (const auto& [size, count] : votes) {
    const uint32_t most = samples.count == 0 ? 0 : votes[samples.count];
    if (count > most || (count == most && size > 1 && samples.count <= 1)) samples.count = size;
  }
  for (const Operand* const operand : inputs) {
    if (step.Dims(operand->shape)[0] == samples.count)
      samples.inputs.emplace_back(operand->block, static_cast<uint64_t>(step.Dims(operand->strides)[0]));
  }
  return samples;
}

}  // namespace vramscope::whatif
