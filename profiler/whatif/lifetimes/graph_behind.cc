// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/graph_behind.h"

#include <algorithm>

namespace vramscope::whatif {
namespace {

using model::kNone;

}  // namespace

GraphsBehind::GraphsBehind(const Step& step)
    : step_(step), node_(step.ops.size()), last_(step.blocks.size()), detached_(step.blocks.size()) {
  for (const NodeIndex i : step.nodes.Indices())
    if (step.nodes[i].op != kNone) node_[step.nodes[i].op] = i;
  for (const OpIndex i : step.ops.Indices()) {
    const Op& op = step.ops[i];
    // Inner operators belong to the node of the outer one: the operators in a Function's forward have no
    // nodes of their own.
    if (node_[i] == kNone && op.parent != kNone) node_[i] = node_[op.parent];
    if (op.node != kNone) continue;
    for (const Operand& result : OutputsOf(step, op))
      if (result.block != kNone) last_[result.block] = i;
    const std::string_view name = step.NameOf(op);
    if (name != "aten::detach" && name != "aten::detach_") continue;
    for (const Operand& operand : InputsOf(step, op))
      if (operand.block != kNone) detached_[operand.block] = i;
  }
}

std::unordered_map<NodeIndex, Position> GraphsBehind::Until(
    std::span<const std::pair<BlockIndex, Position>> held, Position from) const {
  const auto first =
      static_cast<uint32_t>(std::partition_point(step_.ops.begin(), step_.ops.end(),
                                                 [&](const Op& op) { return op.begin < from; }) -
                            step_.ops.begin());
  std::unordered_map<BlockIndex, Position> wanted;
  std::unordered_map<NodeIndex, Position> until;
  const auto extend = [](auto& of, auto which, Position to) {
    Position& known = of.try_emplace(which, kBefore).first->second;
    known = std::max(known, to);
  };
  uint32_t behind = first;
  for (const auto& [block, to] : held) {
    if (last_[block] == kNone || (detached_[block] != kNone && detached_[block] >= first)) continue;
    extend(wanted, block, to);
    behind = std::max(behind, last_[block] + 1);
  }
  for (uint32_t i = behind; i-- > first;) {
    const Op& op = step_.ops[i];
    const bool own = node_[i] != kNone && step_.nodes[node_[i]].op >= first;
    if (op.node != kNone || (!own && step_.NameOf(op) != "aten::to")) continue;
    // A view that an operator with a node takes internally (attention does so for its keys) is not a result
    // of that operator.
    const Position since =
        own && step_.nodes[node_[i]].op != i ? step_.ops[step_.nodes[node_[i]].op].begin : 0;
    Position to = kBefore;
    for (const Operand& result : OutputsOf(step_, op)) {
      const auto found = wanted.find(result.block);
      if (found != wanted.end() && step_.blocks[result.block].begin >= since)
        to = std::max(to, found->second);
    }
    if (to == kBefore) continue;
    if (own) extend(until, node_[i], to);
    for (const Operand& operand : InputsOf(step_, op))
      if (operand.block != kNone) extend(wanted, operand.block, to);
  }
  return until;
}

}  // namespace vramscope::whatif
