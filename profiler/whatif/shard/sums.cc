// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/shard/sums.h"

#include <algorithm>
#include <map>

namespace vramscope::whatif {
namespace {

using model::kNone;

struct Additions {
  NodeIndex from;            // the node that passed on the first gradient of the sum
  std::vector<OpIndex> ops;  // until the sum is passed on
  bool complete = false;
};

// In-place additions of the autograd engine, by sum.
std::map<BlockIndex, Additions> AdditionsOf(const Step& step) {
  std::map<BlockIndex, Additions> all;
  for (const OpIndex i : step.ops.Indices()) {
    const Op& op = step.ops[i];
    if (op.node == kNone || op.parent != kNone) continue;
    const std::span<const Operand> given = InputsOf(step, op);
    const bool adds = given.size() == 2 && given[0].block != kNone && given[1].block != kNone &&
                      given[0].block != given[1].block && step.NameOf(op) == "aten::add_";
    if (adds && !all[given[0].block].complete) {
      all[given[0].block].ops.push_back(i);
      continue;
    }
    for (const Operand& operand : given) {
      if (operand.block == kNone) continue;
      Additions& one = all[operand.block];
      one.complete = !one.ops.empty();
      if (one.ops.empty()) one.from = op.node;
    }
  }
  std::erase_if(all, [](const auto& one) { return one.second.ops.empty(); });
  return all;
}

// The unit in which the node's operator was called; nullptr if it was in the rest of the model.
const Unit* UnitOf(const Step& step, const std::vector<Unit>& units, NodeIndex node) {
  if (node == kNone) return nullptr;
  const Position made = step.nodes[node].made;
  const auto unit = std::find_if(units.begin(), units.end() - 1, [&](const Unit& one) {
    return !one.parameters.empty() && Within(one.forward, made);
  });
  return unit == units.end() - 1 ? nullptr : &*unit;
}

// True if the engine allocated a new block for the sum of the existing gradient and what the operator's node
// computed.
bool MakesSum(const Step& step, const Op& op) {
  if (op.node == kNone || op.parent != kNone || op.input_count < 2 || op.output_count != 1 ||
      step.NameOf(op) != "aten::add")
    return false;
  const BlockIndex sum = OutputsOf(step, op)[0].block;
  const std::span<const Operand> given = InputsOf(step, op);
  return sum != kNone && given[0].block != kNone && given[1].block != kNone && sum != given[0].block &&
         step.blocks[sum].begin >= op.begin && step.blocks[sum].accumulated >= kForever;
}

// The node that passed on the gradient to which the addition adds. It is the first node that received the
// same tensor: an addition's node, for example, passes one tensor to both of its operands. If no node
// received it, it is the node that created it.
NodeIndex HandedOnBy(const Step& step, OpIndex addition) {
  const Operand& first = InputsOf(step, step.ops[addition])[0];
  const auto same = [&](const Operand& other) { return IsSameView(step, other, first); };
  NodeIndex made, given;
  for (uint32_t i = addition; i-- > 0 && step.ops[i].end >= step.blocks[first.block].begin;) {
    const Op& op = step.ops[i];
    if (op.node == kNone) continue;
    const bool takes = std::ranges::any_of(InputsOf(step, op), same);
    if (takes && op.name == step.nodes[op.node].name) given = op.node;
    if (takes || !std::ranges::any_of(OutputsOf(step, op), same)) continue;
    made = op.node;
    break;
  }
  return given != kNone ? given : made;
}

// True if, inside the unit, only other additions use the sum. Otherwise it belongs to a tensor that the unit
// created itself.
bool IsOnlyAddedTo(const Step& step, const Unit& unit, OpIndex addition) {
  const BlockIndex sum = OutputsOf(step, step.ops[addition])[0].block;
  for (OpIndex i = addition.Next(); i < step.ops.size() && step.ops[i].begin < unit.backward.end;
       i = i.Next()) {
    const Op& op = step.ops[i];
    const bool adds = op.parent == kNone && step.NameOf(op) == "aten::add_";
    if (!adds && std::ranges::any_of(InputsOf(step, op), [&](const Operand& o) { return o.block == sum; }))
      return false;
  }
  return true;
}

// True if the gradient is freed when it has been added.
bool GoesWith(const Step& step, BlockIndex gradient, OpIndex addition) {
  const StepBlock& block = step.blocks[gradient];
  return block.accumulated >= kForever && IsSoon(block.end, step.ops[addition].end);
}

}  // namespace

std::vector<SumOfUnit> SumsOfUnits(const Step& step, const std::vector<Unit>& units) {
  std::vector<SumOfUnit> sums;
  const std::map<BlockIndex, Additions> in_place = AdditionsOf(step);
  for (const auto& [sum, additions] : in_place) {
    const OpIndex maker = step.blocks[sum].op;
    const NodeIndex from = additions.from != kNone || maker == kNone ? additions.from : step.ops[maker].node;
    if (from == kNone) continue;
    const Unit* const first = UnitOf(step, units, from);  // nullptr: the rest, for a layer after all units
    std::map<const Unit*, std::vector<OpIndex>> by_unit;
    for (const OpIndex op : additions.ops) by_unit[UnitOf(step, units, step.ops[op].node)].push_back(op);
    for (const auto& [unit, own] : by_unit) {
      if (unit == nullptr || unit == first) continue;
      const BlockIndex gradient = InputsOf(step, step.ops[own[0]])[1].block;
      if (GoesWith(step, gradient, own[0]))
        sums.push_back({unit, gradient, own.size() > 1 ? own[1] : OpIndex(), OpIndex()});
    }
  }
  for (const OpIndex i : step.ops.Indices()) {
    if (!MakesSum(step, step.ops[i])) continue;
    const Unit* const unit = UnitOf(step, units, step.ops[i].node);
    if (unit == nullptr || unit == UnitOf(step, units, HandedOnBy(step, i))) continue;
    const BlockIndex gradient = InputsOf(step, step.ops[i])[1].block;
    if (!GoesWith(step, gradient, i) || !IsOnlyAddedTo(step, *unit, i)) continue;
    const auto more = in_place.find(OutputsOf(step, step.ops[i])[0].block);
    const bool own =
        more != in_place.end() && UnitOf(step, units, step.ops[more->second.ops[0]].node) == unit;
    sums.push_back({unit, gradient, own ? more->second.ops[0] : OpIndex(), i});
  }
  return sums;
}

void AddUpByUnit(const Step& step, const std::vector<Unit>& units,
                 const std::function<Position(const Unit&)>& added, Step& changed) {
  // The sums are created one after the other, in the order of the unit's inputs. Usually the input used first
  // is also the first input, and backward computes its gradient last. Then all gradients that were added are
  // freed.
  const std::vector<SumOfUnit> sums = SumsOfUnits(step, units);
  std::map<const Unit*, Position> made;
  for (auto each = sums.rbegin(); each != sums.rend(); ++each) {
    const SumOfUnit& sum = *each;
    const Position at = added(*sum.unit);
    StepBlock& waits = changed.blocks[LastVersionOf(step, sum.gradient)];
    waits.end = sum.second == kNone ? at : After(step.ops[sum.second].end);
    if (sum.made != kNone) {
      Position& last = made.emplace(sum.unit, HooksAfter(at, -1)).first->second;
      const Position begin = last = After(last, 2);
      changed.blocks[OutputsOf(step, step.ops[sum.made])[0].block].begin = begin;
      const BlockIndex first = InputsOf(step, step.ops[sum.made])[0].block;
      if (GoesWith(step, first, sum.made)) changed.blocks[LastVersionOf(step, first)].end = After(begin);
    }
    if (sum.second == kNone) continue;
    StepBlock own;
    own.id = kNone;
    own.requested = waits.requested;
    own.begin = HooksAfter(step.ops[sum.second].begin, 1);
    own.end = at;
    own.copy_of = sum.gradient;
    own.stream = waits.stream;
    own.category = classify::Category::kTemporaryBackward;
    changed.blocks.push_back(own);
  }
}

BlockIndex LastVersionOf(const Step& step, BlockIndex gradient) {
  BlockIndex last = gradient;
  for (const BlockIndex i : step.blocks.Indices())
    if (step.blocks[i].copy_of == gradient && step.blocks[i].end > step.blocks[last].end) last = i;
  return last;
}

}  // namespace vramscope::whatif
