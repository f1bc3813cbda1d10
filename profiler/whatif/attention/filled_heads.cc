// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/attention/filled_heads.h"

#include <algorithm>
#include <array>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/kernels.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint64_t kFlashUnit = 8;  // elements

uint32_t Outermost(const Step& step, uint32_t op) {
  while (step.ops[op].parent != kNone) op = step.ops[op].parent;
  return op;
}

class Filling {
 public:
  Filling(const Step& step, const std::vector<bool>& low, Step& changed)
      : step_(step), low_(low), changed_(changed) {}

  void Fill() {
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      const Op& op = step_.ops[i];
      if (op.output_count == 0 || !FillsHeads(step_, op)) continue;
      const uint32_t result = OutputsOf(step_, op)[0].block;
      if (result == kNone || !low_[result]) continue;
      if (step_.NameOf(op) == kEfficientCall) Copies(i);
      if (step_.NameOf(op) == kEfficientForward) Wider(result, op);
      if (step_.NameOf(op) == kEfficientBackward && op.node != kNone) Backward(i);
    }
  }

 private:
  // With as many elements more as the heads of what the operator is given first are filled up with.
  void Wider(uint32_t block, const Op& op) {
    const auto width = SizesOf(step_, InputsOf(step_, op)[0])[3];
    uint64_t& bytes = changed_.blocks[block].requested;
    bytes = bytes / static_cast<uint64_t>(width) * static_cast<uint64_t>(FilledWidth(width));
  }

  void Copies(uint32_t index) {
    const auto recorded = static_cast<uint32_t>(step_.blocks.size());
    for (uint32_t copy = recorded; copy < changed_.blocks.size(); ++copy)
      if (changed_.blocks[copy].op == index) Wider(copy, step_.ops[index]);
  }

  // The gradient is put into zeros; what comes out is cut when the node has run, the last operand's first.
  void Backward(uint32_t index) {
    const Op& op = step_.ops[index];
    const Node& node = step_.nodes[op.node];
    const uint32_t given = InputsOf(step_, op)[0].block;
    if (given != kNone) {
      const uint32_t filled = Add(given, index, node.begin + kStride, op.end);
      Wider(filled, op);
      if (Position& end = changed_.blocks[given].end; end > op.end && end < node.end) {
        changed_.blocks[filled].end = end;
        end = node.begin + 2 * kStride;
      }
    }
    const std::span<const Operand> results = OutputsOf(step_, op);
    Position at = node.end;
    for (size_t i = results.size(); i-- > 0;) {
      const uint32_t gradient = results[i].block;
      if (gradient == kNone || !low_[gradient]) continue;
      Wider(Add(gradient, index, changed_.blocks[gradient].begin, at + 2 * kStride), op);
      changed_.blocks[gradient].begin = at + kStride;
      at += 2 * kStride;
      if (SizesOf(step_, results[i])[1] > 1) Join(gradient);
    }
  }

  // It lies head by head: where heads come beside each other again it is copied.
  void Join(uint32_t gradient) {
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      const Op& op = step_.ops[i];
      if (op.node == kNone || op.begin < step_.blocks[gradient].begin || !JoinsHeads(step_, op) ||
          InputsOf(step_, op)[0].block != gradient)
        continue;
      const Position behind = step_.ops[Outermost(step_, i)].end;
      if (changed_.blocks[gradient].end <= behind) return;
      Add(gradient, i, op.begin + kStride, changed_.blocks[gradient].end);
      changed_.blocks[gradient].end = behind + kStride;
      return;
    }
  }

  uint32_t Add(uint32_t like, uint32_t op, Position begin, Position end) {
    StepBlock block = CopyOf(step_, like);
    block.requested = changed_.blocks[like].requested;
    block.begin = begin;
    block.end = end;
    block.op = op;
    block.category = Category::kTemporaryBackward;
    changed_.blocks.push_back(block);
    return static_cast<uint32_t>(changed_.blocks.size() - 1);
  }

  const Step& step_;
  const std::vector<bool>& low_;
  Step& changed_;
};

}  // namespace

int64_t FilledWidth(int64_t width) {
  return static_cast<int64_t>(UpTo(static_cast<uint64_t>(width), kFlashUnit));
}

bool FillsHeads(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  if (step.keeps_products) return false;
  if (name != kEfficientCall && name != kEfficientForward && name != kEfficientBackward) return false;
  const std::span<const Operand> given = InputsOf(step, op);
  const uint16_t bias =
      name == kEfficientBackward ? 4 : 3;  // a mask that is added: flash attention takes none
  const auto is_bias = [&](const Operand& operand) { return operand.argument == bias; };
  if (given.empty() || step.Rank(given[0].shape) != 4 || std::any_of(given.begin(), given.end(), is_bias))
    return false;
  const int64_t width = SizesOf(step, given[0])[3];
  return width <= kWidestFlash && width != FilledWidth(width);
}

bool MayFillHeads(const Step& step) {
  return std::any_of(step.ops.begin(), step.ops.end(),
                     [&](const Op& op) { return step.NameOf(op) == kMathAttention || FillsHeads(step, op); });
}

void FilledHeads::Begin(const Op& op) {
  if (step_.NameOf(op) != kEfficientCall || !FillsHeads(step_, op)) return;
  Position at = op.begin;
  const auto index = static_cast<uint32_t>(&op - step_.ops.data());
  for (const Operand& operand : InputsOf(step_, op)) {
    const uint32_t version = operand.block == kNone ? kNone : versions_.Current(operand.block);
    if (version == kNone || !IsFloat(operand) || step_.Rank(operand.shape) != 4) continue;
    const uint8_t type = versions_.TypeOfVersion(version);
    if (type != kHalfType && type != kBfloat16Type) continue;
    versions_.Cast(operand.block, type, at += kStride, index, operand);
    given_.push_back({operand.block, version, versions_.Current(operand.block)});
  }
}

uint32_t FilledHeads::Saved(uint32_t block) {
  const uint32_t current = versions_.Current(block);
  const auto next =
      std::ranges::find_if(given_, [&](const Given& one) { return one.block == block && !one.saved; });
  if (next != given_.end()) versions_.SetCurrent(block, next->copy), next->saved = true;
  return current;
}

void FilledHeads::End(const Op& op) {
  if (step_.NameOf(op) != kEfficientCall) return;
  for (; !given_.empty(); given_.pop_back()) versions_.SetCurrent(given_.back().block, given_.back().version);
}

void FillHeads(const Step& step, const std::vector<bool>& low, Step& changed) {
  Filling(step, low, changed).Fill();
}

}  // namespace vramscope::whatif
