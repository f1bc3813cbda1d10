// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision_linears.h"

#include <algorithm>

#include "profiler/whatif/strides.h"

namespace vramscope::whatif {

using model::kNone;

namespace {

constexpr uint32_t kBiased = 3;  // so many operands

// Where the operator is within a linear layer.
uint32_t LinearAround(const Step& step, uint32_t parent) {
  while (parent != kNone && step.NameOf(step.ops[parent]) != "aten::linear") parent = step.ops[parent].parent;
  return parent;
}

// What a conversion makes of it has no gaps, and it has.
bool LosesGaps(const Step& step, const Operand& x) {
  if (!step.shapes[x.strides].known || step.Rank(x.strides) != step.Rank(x.shape)) return false;
  const std::span<const int64_t> sizes = SizesOf(step, x), strides = StridesOf(step, x);
  if (LiesWithoutGaps(sizes, strides)) return false;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 1 || strides[d] < 1) return false;
  // What is dense keeps its strides.
  return static_cast<uint64_t>(ElementsSpanned(sizes, strides)) > ElementsIn(step, x) &&
         StridesOfResult(sizes, strides) == StridesWithoutGaps(sizes);
}

}  // namespace

const Operand* ClonedInLinear(const Step& step, const Op& op) {
  if (op.node != kNone || step.NameOf(op) != "aten::clone" || op.input_count == 0 || op.output_count == 0)
    return nullptr;
  const uint32_t linear = LinearAround(step, op.parent);
  if (linear == kNone || step.ops[linear].input_count == 0) return nullptr;
  const Operand& x = InputsOf(step, step.ops[linear])[0];
  const bool same = x.block != kNone && InputsOf(step, op)[0].block == x.block;
  return same && step.Rank(x.shape) >= 3 && LosesGaps(step, x) ? &x : nullptr;
}

void TakeCopyForClone(const Step& step, const Op& op, Versions& versions) {
  const Operand* const cloned = ClonedInLinear(step, op);
  if (cloned != nullptr && versions.IsCopy(cloned->block))
    versions.Alias(OutputsOf(step, op)[0].block, cloned->block);
}

void TakeWorkspaceOfAddmm(const Step& step, Step& changed) {
  const auto addmm = std::find_if(step.blocks.begin(), step.blocks.end(), [&](const StepBlock& block) {
    return block.workspace && block.begin > kBefore && block.op != kNone &&
           step.NameOf(step.ops[block.op]) == "aten::addmm";
  });
  if (addmm == step.blocks.end()) return;
  for (const Op& op : step.ops) {
    if (ClonedInLinear(step, op) == nullptr) continue;
    const uint32_t result = OutputsOf(step, op)[0].block;
    const Op& linear = step.ops[LinearAround(step, op.parent)];
    if (linear.input_count != kBiased || result == kNone || changed.blocks[result].requested != 0 ||
        linear.end >= kForever)
      continue;
    for (uint32_t i = result; i < step.blocks.size() && step.blocks[i].begin < linear.end; ++i)
      if (step.blocks[i].workspace) changed.blocks[i].requested = addmm->requested;
  }
}

}  // namespace vramscope::whatif
