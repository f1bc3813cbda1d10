// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/frozen_work.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {

using model::kNone;

bool ViewsWhatItKeeps(const Step& step, const Op& op) {
  if (op.input_count == 0 || op.output_count != 1 || step.NameOf(op).ends_with('_')) return false;
  const uint32_t block = InputsOf(step, op)[0].block;
  return block != kNone && OutputsOf(step, op)[0].block == block &&
         step.blocks[block].begin < step.backward.front().begin;
}

bool TakesMask(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  return name == "aten::convolution_backward" || name == "aten::native_batch_norm_backward" ||
         name == "aten::native_group_norm_backward" || name == "aten::native_layer_norm_backward";
}

uint32_t GradientOfAll(const Step& step, uint32_t block) {
  uint32_t op = step.blocks[block].op;
  const auto computes_all = [&](std::string_view name) {
    return name == "aten::cudnn_batch_norm_backward" || name == "aten::miopen_batch_norm_backward" ||
           name == "aten::_prelu_kernel_backward";
  };
  while (op != kNone && !computes_all(step.NameOf(step.ops[op]))) op = step.ops[op].parent;
  return op;
}

uint32_t GradientOfCopy(const Step& step, uint32_t block) {
  constexpr uint32_t kWeight = 2;  // of what convolution_backward is given
  uint32_t copies = step.blocks[block].op;
  const auto parent = [&](uint32_t op) { return step.ops[op].parent; };
  while (copies != kNone && step.NameOf(step.ops[copies]) != "aten::contiguous") copies = parent(copies);
  if (copies == kNone || parent(copies) == kNone || step.ops[copies].input_count == 0) return kNone;
  const Op& convolution = step.ops[parent(copies)];
  if (step.NameOf(convolution) != "aten::convolution_backward" || convolution.input_count <= kWeight)
    return kNone;
  const std::span<const Operand> given = InputsOf(step, convolution);
  const uint32_t source = InputsOf(step, step.ops[copies])[0].block, weight = given[kWeight].block;
  if (source == kNone || source != weight || given[0].block == weight || given[1].block == weight)
    return kNone;
  for (const Operand& output : OutputsOf(step, convolution)) {
    if (output.argument == 0) return output.block;
  }
  return kNone;
}

void DropScratch(const Step& step, std::vector<bool>& gone) {
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    if (block.begin == kBefore || block.op == kNone) continue;
    const uint32_t gradient = GradientOfCopy(step, i);
    if (gradient != kNone && gone[gradient]) gone[i] = true;
    const Op& op = step.ops[block.op];
    if (op.node == kNone || step.NameOf(op) != "aten::convolution_backward") continue;
    uint32_t last = kNone;  // the gradient that was made last, which is `i` where it is one itself
    for (const Operand& output : OutputsOf(step, op)) {
      if (output.block != kNone && output.block <= i && step.blocks[output.block].begin > op.begin)
        last = last == kNone ? output.block : std::max(last, output.block);
    }
    if (last != kNone && gone[last]) gone[i] = true;
  }
}

bool IsCopyForItsNode(const Step& step, const Saved& saved) {
  const uint32_t changing = saved.node == kNone ? kNone : step.nodes[saved.node].op;
  if (changing == kNone || !step.NameOf(step.ops[changing]).ends_with('_')) return false;
  uint32_t op = step.blocks[saved.block].op;
  while (op != kNone && step.ops[op].parent != changing) op = step.ops[op].parent;
  return op != kNone && step.NameOf(step.ops[op]) == "aten::clone";
}

bool AreMatricesInARow(const Step& step, const Operand& batch) {
  if (!step.shapes[batch.shape].known || !step.shapes[batch.strides].known || step.Rank(batch.shape) < 3)
    return true;
  const std::span<const int64_t> sizes = SizesOf(step, batch);
  const size_t dims = sizes.size() - 2;
  const int64_t many = std::accumulate(sizes.begin(), sizes.begin() + dims, int64_t{1}, std::multiplies<>());
  const Extents matrices = {many, sizes[dims], sizes[dims + 1]};
  return StridesOfView(sizes, StridesOf(step, batch), matrices).has_value();
}

HeldByCheckpoint HeldBy(const Step& step, size_t argument, const std::vector<bool>& kept) {
  const auto untold = [&](const Saved& saved) { return saved.node == kNone && saved.released >= kForever; };
  HeldByCheckpoint held;
  if (!untold(step.saved[argument])) return held;
  const Position entered = step.saved[argument].at;
  size_t inside = argument;
  while (inside < step.saved.size() && untold(step.saved[inside])) ++inside;
  bool place_holders = false;
  for (; inside < step.saved.size(); ++inside) {
    const Saved& saved = step.saved[inside];
    const StepBlock& block = step.blocks[saved.block];
    if (saved.node == kNone || saved.at > step.backward.front().begin || saved.released >= kForever) break;
    const bool own = block.begin > entered;
    if (own && block.end + kSoon > saved.released) break;  // the node holds the tensor: it is behind that
    place_holders |= own;
    held.recorded = std::max(held.recorded, saved.released);
    if (kept[inside]) held.now = std::max(held.now, saved.released);
  }
  return place_holders ? held : HeldByCheckpoint{};
}

std::optional<Step> WithoutCallsInBackward(const Step& step) {
  const auto again = [&](const auto& held) {
    const Position called = step.modules[held.call].begin;
    return std::ranges::any_of(step.backward, [&](const Window& backward) {
      return backward.begin < called && called < backward.end;
    });
  };
  if (std::ranges::none_of(step.held, again)) return std::nullopt;
  Step without = step;
  std::erase_if(without.held, again);
  std::erase_if(without.kept_results, again);
  return without;
}

}  // namespace vramscope::whatif
