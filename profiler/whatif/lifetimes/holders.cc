// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/holders.h"

#include <algorithm>
#include <iterator>

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr std::string_view kProducts[] = {"aten::matmul", "aten::bmm", "aten::baddbmm",
                                          "aten::scaled_dot_product_attention"};

// A function's variables are freed before its arguments.
Position Returns(const ModuleCall& call) { return In(Stage::kReturns, call.end); }

}  // namespace

std::vector<CallIndex> CallsOf(const Step& step) {
  std::vector<CallIndex> calls(step.ops.size());
  // Both calls and operators are sorted by start.
  CallIndex next(0), call;
  for (const OpIndex i : step.ops.Indices()) {
    const Position at = step.ops[i].begin;
    for (; next < step.modules.size() && step.modules[next].begin <= at; next = next.Next()) call = next;
    while (call != kNone && step.modules[call].end <= at) call = step.modules[call].parent;
    calls[i] = call;
  }
  return calls;
}

OpIndex OutermostMaker(const Step& step, BlockIndex block) {
  OpIndex maker = block == kNone ? OpIndex() : step.blocks[block].op;
  while (maker != kNone && step.ops[maker].parent != kNone) maker = step.ops[maker].parent;
  return maker;
}

Holders::Holders(const Step& step) : step_(step), call_(CallsOf(step)), uses_(step.blocks.size()) {
  for (const OpIndex i : step.ops.Indices()) {
    if (step.ops[i].parent != kNone || step.ops[i].node != kNone) continue;
    const std::span<const Operand> results = OutputsOf(step, step.ops[i]);
    for (const Operand& operand : InputsOf(step, step.ops[i])) {
      const bool handed_on = std::any_of(results.begin(), results.end(), [&](const Operand& result) {
        return result.block == operand.block;
      });
      if (operand.block != kNone && !handed_on) uses_[operand.block].push_back(i);
    }
  }
}

bool Holders::IsKept(BlockIndex block, CallIndex call) const {
  const ModuleCall& given = step_.modules[call];
  for (const OpIndex use : uses_[block]) {
    // Another call from the same function that used the block and returned before.
    CallIndex other = call_[use];
    while (other != kNone && step_.modules[other].parent != given.parent) other = step_.modules[other].parent;
    if (other != kNone && step_.modules[other].begin > step_.blocks[block].begin &&
        step_.modules[other].end <= given.begin)
      return true;
  }
  const auto begin = std::partition_point(step_.ops.begin(), step_.ops.end(),
                                          [&](const Op& op) { return op.begin < given.begin; });
  for (auto op = begin; op != step_.ops.end() && op->begin < given.end; ++op) {
    const std::span<const Operand> inputs = InputsOf(step_, *op);
    const auto is_block = [&](const Operand& operand) { return operand.block == block; };
    if (std::any_of(inputs.begin(), inputs.end(), is_block)) return false;
    // A tensor that this step created, but not inside the call.
    if (std::any_of(inputs.begin(), inputs.end(), [&](const Operand& operand) {
          return operand.block != kNone && step_.blocks[operand.block].begin > kBefore &&
                 step_.blocks[operand.block].begin < given.begin;
        }))
      return true;
  }
  return false;
}

bool Holders::MeetsAnother(const Op& op) const {
  if (std::find(std::begin(kProducts), std::end(kProducts), step_.NameOf(op)) == std::end(kProducts))
    return false;
  uint32_t made = 0;  // created in this step; they may share a block
  for (const Operand& operand : InputsOf(step_, op))
    if (operand.block != kNone && step_.blocks[operand.block].begin > kBefore) ++made;
  return made > 1;
}

Position Holders::NamedAnew(const Operand& operand) const {
  const OpIndex maker = OutermostMaker(step_, operand.block);
  const CallIndex call = call_[operand.op];
  if (maker == kNone || call_[maker] != call) return kForever;
  const Op& product = step_.ops[operand.op];
  for (OpIndex i = operand.op.Next(); i < step_.ops.size() && step_.ops[i].begin < step_.modules[call].end;
       i = i.Next()) {
    const Op& next = step_.ops[i];
    if (call_[i] != call || next.parent != kNone || next.name != product.name) continue;
    for (const Operand& other : InputsOf(step_, next)) {
      const OpIndex again =
          other.argument == operand.argument ? OutermostMaker(step_, other.block) : OpIndex();
      if (again != kNone && call_[again] == call && step_.ops[again].name == step_.ops[maker].name &&
          step_.ops[again].begin > product.end)
        return step_.ops[again].end;
    }
  }
  return kForever;
}

bool Holders::Outlives(const Operand& operand, CallIndex function) const {
  const OpIndex maker = OutermostMaker(step_, operand.block);
  if (maker == kNone || call_[maker] == function) return false;
  const Position made = step_.blocks[operand.block].begin;
  for (CallIndex i = function.Next(); i < step_.modules.size(); i = i.Next()) {
    const ModuleCall& other = step_.modules[i];
    if (other.begin >= step_.ops[operand.op].begin) break;
    if (other.parent != function || other.begin <= made || other.end > step_.ops[operand.op].begin) continue;
    const std::vector<OpIndex>& uses = uses_[operand.block];
    if (std::none_of(uses.begin(), uses.end(), [&](OpIndex use) {
          return other.begin <= step_.ops[use].begin && step_.ops[use].begin < other.end;
        }))
      return true;
  }
  return false;
}

Position Holders::Until(const Operand& operand) const {
  const Op& op = step_.ops[operand.op];
  const Position made = step_.blocks[operand.block].begin;
  if (op.node != kNone || made == kBefore) return kBefore;
  Position until = kBefore;
  CallIndex call = call_[operand.op];
  // Goes outward: through the calls that received the block, to the call of the function that allocated it.
  CallIndex given;
  for (; call != kNone && step_.modules[call].begin > made; call = step_.modules[call].parent) {
    given = call;
    until = step_.modules[call].end;
  }
  // A variable of the enclosing function may hold it for longer.
  if (call != kNone) {
    const bool itself = until == kBefore && op.parent == kNone;
    if (given != kNone ? IsKept(operand.block, given) : itself && Outlives(operand, call))
      until = Returns(step_.modules[call]);
    if (itself && MeetsAnother(op)) until = std::min(Returns(step_.modules[call]), NamedAnew(operand));
  }
  return until >= kForever ? kBefore : until;
}

}  // namespace vramscope::whatif
