// SPDX-License-Identifier: Apache-2.0
// One rank of several that share out the hidden widths of a model: Megatron's tensor parallelism, as
// torch.distributed.tensor.parallel does it (ColwiseParallel and RowwiseParallel).
//
//   forward    x whole ─ maker/N ─ h/N ─ taker/N ─▶ partial y ─ all-reduce ─▶ y whole, a block of its own
//   backward   y's gradient whole ... ─ maker ─▶ partial gradient of x ─ all-reduce ─▶ whole, another one
#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/training/lora_gradients.h"

namespace vramscope::whatif {
namespace {

constexpr Position kReduced = 0.1;

// What was computed is one rank's part of a sum; the sum is what everybody worked on.
void Reduce(uint32_t block, Position at, Step& step) {
  StepBlock part = CopyOf(step, block);
  at = std::min(at, part.end - 2 * kHair);  // a conversion may follow at once
  part.end = at + kHair;
  step.blocks[block].begin = at;
  step.blocks.push_back(part);
}

// Of what a node itself computes: behind it the engine adds that up with others.
Position OwnWorkEnd(const Step& step, uint32_t node) {
  Position end = step.nodes[node].begin;
  for (const Op& op : step.ops) {
    if (op.node == node && op.parent == model::kNone && op.name == step.nodes[node].name) end = op.end;
  }
  return end;
}

}  // namespace

Step TensorParallel(const Step& step, const HiddenWidths& hidden, uint32_t ranks) {
  Step changed = Narrowed(step, hidden, std::vector<Share>(hidden.widths.size(), Share{1, ranks}));
  const std::vector<GradientPlace> places = GradientPlacesOf(step, hidden.linears);
  for (const HiddenWidth& width : hidden.widths) {
    for (const uint32_t taker : width.takers) {
      const LinearCall& linear = hidden.linears[taker];
      Reduce(linear.output, step.modules[linear.call].end + kReduced, changed);
    }
    for (const uint32_t maker : width.makers) {
      const GradientPlace& place = places[maker];
      if (place.sum != model::kNone) Reduce(place.sum, OwnWorkEnd(step, place.node) + kReduced, changed);
    }
  }
  return changed;
}

}  // namespace vramscope::whatif
