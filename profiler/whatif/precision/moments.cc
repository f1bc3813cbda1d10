// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/moments.h"

#include <algorithm>

#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {

using model::kNone;

namespace {
// x - y too: x has the gradient as it is given (sub.Tensor in tools/autograd/derivatives.yaml).
constexpr std::string_view kAddition = "AddBackward", kSubtraction = "SubBackward";
constexpr Position kLeft = 0.5;  // before what follows: autocast is left

// loss / 4: of a tensor without dimensions, and no other one on the device, another one.
bool ScalesALoss(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  if (name != "aten::div" && name != "aten::mul") return false;
  const std::span<const Operand> given = InputsOf(step, op), results = OutputsOf(step, op);
  const auto on_device = [](const Operand& operand) { return operand.block != kNone; };
  return std::count_if(given.begin(), given.end(), on_device) == 1 && results.size() == 1 &&
         step.Rank(results[0].shape) == 0;
}

}  // namespace

bool IsFloat(const Operand& operand) { return operand.block != kNone && operand.dtype == kFloatType; }

bool HaveEmpty(const Step& step, std::span<const Operand> operands) {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.dtype == kFloatType && IsEmpty(step, operand);
  });
}

Position GivenUntil(const Step& step, const Op& op, std::span<const std::pair<uint32_t, uint32_t>> kept) {
  if (op.parent != kNone || op.name != step.nodes[op.node].name) return op.end;
  Position end = step.nodes[op.node].end;
  for (const auto& [block, saved] : kept) {
    const Position released = step.saved[saved].released;
    if (released > op.end) end = std::min(end, released);
  }
  return end < kForever ? std::max(op.end, end - kBeforeNode) : op.end;
}

Position LeftBefore(const Step& step, Position backward_begin) {
  Position left = backward_begin, scaled = kForever;
  for (const Op& op : step.ops) {
    if (op.begin >= backward_begin) break;
    if (op.parent != kNone) continue;
    const bool ones = step.NameOf(op) == "aten::ones_like";
    left = ones ? std::min(op.begin, scaled) : backward_begin;
    const bool by_loop = CallAt(step, op.begin) == kNone && ScalesALoss(step, op);
    scaled = by_loop ? std::min(op.begin, scaled) : kForever;
  }
  return left - kLeft;
}

Consumers::Consumers(const Step& step) : step_(step) {
  for (uint32_t number = 0; number < step.ops.size(); ++number) {
    const Op& op = step.ops[number];
    if (op.node == kNone || op.parent != kNone || op.name != step.nodes[op.node].name) continue;
    const std::string_view name = step.NameOf(op);
    const bool adds = name.starts_with(kAddition) || name.starts_with(kSubtraction);
    for (uint32_t i = 0; i < op.input_count; ++i) {
      const Operand& operand = step.operands[op.first_input + i];
      if (!IsFloat(operand)) continue;
      nodes_[operand.block].emplace_back(op.begin, op.node);
      if (adds && op.end < kForever) handed_on_[operand.block].emplace_back(number, operand.tensor);
    }
  }
}

uint32_t Consumers::HandedOn(const Operand& gradient, bool view, Position at) const {
  const auto found = handed_on_.find(gradient.block);
  uint32_t last = kNone;
  if (found == handed_on_.end()) return last;
  for (const auto& [op, tensor] : found->second) {
    if ((view && tensor != gradient.tensor) || step_.ops[op].end >= at) continue;
    if (last == kNone || step_.ops[op].end > step_.ops[last].end) last = op;
  }
  return last;
}

uint32_t Consumers::HandedOnTo(uint32_t node, uint32_t block, Position at) const {
  const auto found = handed_on_.find(block);
  if (found == handed_on_.end() || step_.nodes[node].op == kNone) return kNone;
  for (const auto& [op, tensor] : found->second) {
    const uint32_t added_by = step_.nodes[step_.ops[op].node].op;
    // Of a subtraction one edge alone has it.
    if (added_by == kNone || step_.ops[op].begin >= at || !step_.NameOf(step_.ops[op]).starts_with(kAddition))
      continue;
    for (const Operand& added : InputsOf(step_, step_.ops[added_by]))
      for (const Operand& result : OutputsOf(step_, step_.ops[step_.nodes[node].op]))
        if (added.block != kNone && added.block == result.block) return op;
  }
  return kNone;
}

bool Consumers::WantCopies(uint32_t block, Position behind, uint8_t type,
                           const std::vector<uint8_t>& wanted) const {
  const auto found = nodes_.find(block);
  if (found == nodes_.end()) return false;
  bool any = false;
  for (const auto& [at, node] : found->second) {
    if (at <= behind) continue;
    if (wanted[node] == type) return false;
    any = true;
  }
  return any;
}

uint32_t Consumers::Next(uint32_t block, Position behind) const {
  const auto found = nodes_.find(block);
  if (found == nodes_.end()) return kNone;
  for (const auto& [at, node] : found->second) {
    if (at > behind) return node;
  }
  return kNone;
}

std::vector<Moment> MomentsOf(const Step& step) {
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    moments.push_back({step.ops[i].begin, What::kOpBegin, i});
    if (step.ops[i].end < kForever) moments.push_back({step.ops[i].end, What::kOpEnd, i});
  }
  for (uint32_t i = 0; i < step.nodes.size(); ++i) {
    if (step.nodes[i].begin >= kForever) continue;
    moments.push_back({step.nodes[i].begin, What::kNodeBegin, i});
    if (step.nodes[i].end < kForever) moments.push_back({step.nodes[i].end, What::kNodeEnd, i});
  }
  for (uint32_t i = 0; i < step.saved.size(); ++i) moments.push_back({step.saved[i].at, What::kSaved, i});
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) { return a.at < b.at; });
  return moments;
}

}  // namespace vramscope::whatif
