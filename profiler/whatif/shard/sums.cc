// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/shard/sums.h"

#include <algorithm>
#include <map>

namespace vramscope::whatif {
namespace {

using model::kNone;

struct Additions {
  uint32_t from = kNone;      // the node that the sum came from: what it handed on is added to
  std::vector<uint32_t> ops;  // until the sum is handed on
  bool complete = false;
};

// In-place additions of the engine, by the sum.
std::map<uint32_t, Additions> AdditionsOf(const Step& step) {
  std::map<uint32_t, Additions> all;
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
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

// The one, but for the rest, that the node's operator was called in; nullptr: none.
const Unit* UnitOf(const Step& step, const std::vector<Unit>& units, uint32_t node) {
  if (node == kNone) return nullptr;
  const Position made = step.nodes[node].made;
  const auto unit = std::find_if(units.begin(), units.end() - 1, [&](const Unit& one) {
    return !one.parameters.empty() && Within(one.forward, made);
  });
  return unit == units.end() - 1 ? nullptr : &*unit;
}

}  // namespace

std::vector<SumOfUnit> SumsOfUnits(const Step& step, const std::vector<Unit>& units) {
  std::vector<SumOfUnit> sums;
  for (const auto& [sum, additions] : AdditionsOf(step)) {
    const uint32_t maker = step.blocks[sum].op;
    const uint32_t from = additions.from != kNone || maker == kNone ? additions.from : step.ops[maker].node;
    if (from == kNone) continue;
    const Unit* const first = UnitOf(step, units, from);  // nullptr: the rest, of a layer behind all units
    std::map<const Unit*, std::vector<uint32_t>> by_unit;
    for (const uint32_t op : additions.ops) by_unit[UnitOf(step, units, step.ops[op].node)].push_back(op);
    for (const auto& [unit, own] : by_unit) {
      if (unit == nullptr || unit == first) continue;
      const uint32_t gradient = InputsOf(step, step.ops[own[0]])[1].block;
      const StepBlock& waits = step.blocks[gradient];
      if (waits.accumulated < kForever || waits.end > step.ops[own[0]].end + kSoon) continue;
      sums.push_back({unit, gradient, own.size() > 1 ? own[1] : kNone});
    }
  }
  return sums;
}

uint32_t LastVersionOf(const Step& step, uint32_t gradient) {
  uint32_t last = gradient;
  for (uint32_t i = 0; i < step.blocks.size(); ++i)
    if (step.blocks[i].copy_of == gradient && step.blocks[i].end > step.blocks[last].end) last = i;
  return last;
}

}  // namespace vramscope::whatif
