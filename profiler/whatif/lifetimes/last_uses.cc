// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/last_uses.h"

#include <algorithm>

#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Order of frees at the end of an operator: its results, its local variables, its arguments.
constexpr int32_t kResults = 1 << 30, kVariables = 1 << 6;

// The node of an in-place operator on a view is inside CopySlices, which first copies the gradient and then
// runs the node with a part of the copy (torch/csrc/autograd/functions/tensor.cpp).
bool IsWithinCopySlices(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  return op.parent != kNone && step.ops[op.parent].parent == kNone &&
         step.NameOf(step.ops[op.parent]) == "torch::autograd::CopySlices" &&
         name.find("Backward") != std::string_view::npos && name.find("::") == std::string_view::npos;
}

// By node: the operator that does its work.
std::vector<OpIndex> FindWork(const Step& step) {
  std::vector<OpIndex> work(step.nodes.size());
  for (const OpIndex i : step.ops.Indices()) {
    const Op& op = step.ops[i];
    if (op.node == kNone || op.end >= kForever) continue;
    const bool itself = op.parent == kNone && op.name == step.nodes[op.node].name;
    if (itself || IsWithinCopySlices(step, op)) work[op.node] = i;
  }
  return work;
}

// A node's function unpacks saved tensors into local variables. They are freed when the function returns:
// before the engine converts its results and releases its inputs.
std::vector<Position> UnpackedUntil(const Step& step, const std::vector<OpIndex>& work) {
  std::vector<int32_t> turns(step.nodes.size(), 0);
  std::vector<Position> until;
  for (const Saved& saved : step.saved) {
    const OpIndex op = saved.node == kNone ? OpIndex() : work[saved.node];
    if (op == kNone) {
      until.push_back(saved.released);
      continue;
    }
    const Position end = In(Stage::kUnpacked, step.ops[op].end);
    const bool in_cpp = step.Text(step.nodes[saved.node].name).ends_with("Backward0");
    until.push_back(Sooner(std::min(end, saved.released), in_cpp ? turns[saved.node]++ : 0));
  }
  return until;
}

// auto [attended, sums, seed] = attention(..., mask) is a tuple. It is destroyed first, and within it the
// first elements first. Then come the tensors that the enclosing operator created as its inputs, the last one
// first: left = left.reshape(...), right = ...
Position EndFor(const Step& step, const Op& op, const Operand& operand) {
  if ((operand.flags & trace::kTensorIsOutput) == 0) {
    const bool local = op.parent != kNone && step.blocks[operand.block].begin > step.ops[op.parent].begin;
    return Sooner(op.end, local ? std::min<int32_t>(operand.argument, kVariables) : 0);
  }
  return Sooner(op.end, kResults - operand.argument);
}

LastUses Find(const Step& step) {
  LastUses uses;
  const std::vector<OpIndex> work = FindWork(step);
  uses.unpacked_until = UnpackedUntil(step, work);
  for (const NodeIndex node : step.nodes.Indices()) {
    const bool within = work[node] != kNone && step.ops[work[node]].parent != kNone;
    uses.works_from.push_back(within ? step.ops[work[node]].begin : step.nodes[node].begin);
  }
  uses.held.assign(step.blocks.size(), kBefore);
  const Holders holders(step);
  for (const Operand& operand : step.operands) {
    const Op& op = step.ops[operand.op];
    if (operand.block == kNone || op.node != kNone || op.end >= kForever) continue;
    // A result counts as not held. Attention's, for example, is often overwritten by what is computed from
    // it.
    const bool result = (operand.flags & trace::kTensorIsOutput) != 0;
    Position& held = uses.held[operand.block];
    held = std::max({held, EndFor(step, op, operand), OwnVariableUntil(step, operand),
                     result ? kBefore : holders.Until(operand)});
  }
  return uses;
}

}  // namespace

Position OwnVariableUntil(const Step& step, const Operand& operand) {
  const Op& op = step.ops[operand.op];
  const bool given = operand.argument == 0 && (operand.flags & trace::kTensorIsOutput) == 0;
  if (!given || op.parent == kNone || op.node != kNone || step.NameOf(op) != "aten::matmul") return kBefore;
  const Op& around = step.ops[op.parent];
  if (step.NameOf(around) != "aten::_scaled_dot_product_attention_math" || around.end >= kForever ||
      step.blocks[operand.block].begin < around.begin)
    return kBefore;
  // The attention weights were declared last, so they are destroyed first.
  return Sooner(around.end, kVariables + op.begin.event - around.begin.event);
}

const LastUses& LastUsesOf(const Step& step) {
  return step.last_uses.Get([&] { return Find(step); });
}

Takers::Takers(const Step& step) {
  for (const OpIndex i : step.ops.Indices()) {
    if (step.ops[i].parent != kNone) continue;
    for (const Operand& operand : InputsOf(step, step.ops[i]))
      if (operand.block != kNone) all_.emplace_back(operand.block, i);
  }
  std::sort(all_.begin(), all_.end());
}

OpIndex Takers::Next(BlockIndex block, OpIndex op) const {
  const auto next = std::upper_bound(all_.begin(), all_.end(), std::pair(block, op));
  return next != all_.end() && next->first == block ? next->second : OpIndex();
}

const Takers& TakersOf(const Step& step) {
  return step.takers.Get([&] { return Takers(step); });
}

}  // namespace vramscope::whatif
