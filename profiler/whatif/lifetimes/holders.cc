// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/holders.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/whatif/lifetimes/caches.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr std::string_view kProducts[] = {"aten::matmul", "aten::bmm", "aten::baddbmm",
                                          "aten::scaled_dot_product_attention"};

constexpr Position kBeforeNext = 0.05;  // in a function's return

// Its variables go before what it was given does.
Position Returns(const ModuleCall& call) {
  constexpr Position kBeforeArguments = 0.1;
  return call.end - kBeforeArguments;
}

// "blocks.3": one of a list, which a loop goes through.
bool IsNumbered(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('.') + 1);
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// The same module, or two of a list.
bool AreAlike(std::string_view a, std::string_view b) {
  const auto list = [](std::string_view path) {
    return IsNumbered(path) ? path.substr(0, path.rfind('.')) : path;
  };
  return list(a) == list(b) && IsNumbered(a) == IsNumbered(b);
}

// Whether the record says which variables nothing else is assigned to: older ones do not.
bool IsToldOf(const Step& step, uint32_t call) {
  auto held = std::lower_bound(step.held.begin(), step.held.end(), call,
                               [](const Held& one, uint32_t wanted) { return one.call < wanted; });
  for (; held != step.held.end() && held->call == call; ++held)
    if (held->to_end) return true;
  return false;
}

// x = f(y, x), the last call of its function: all variables that have the block then are given another one,
// and what the call returns is there for that.
bool IsNamedAnewBehind(const Step& step, uint32_t call, uint32_t block) {
  if (!IsToldOf(step, call)) return false;
  bool named = false;
  auto held = std::lower_bound(step.held.begin(), step.held.end(), call,
                               [](const Held& one, uint32_t wanted) { return one.call < wanted; });
  for (; held != step.held.end() && held->call == call; ++held) {
    if (held->block != block) continue;
    if (held->to_end) return false;
    named = true;
  }
  const ModuleCall& last = step.modules[call];
  const Position end = last.parent == kNone ? kForever : step.modules[last.parent].end;
  for (uint32_t i = call + 1; named && i < step.modules.size() && step.modules[i].begin < end; ++i)
    if (step.modules[i].begin >= last.end && step.modules[i].parent == last.parent) return false;
  return named;
}

}  // namespace

std::vector<uint32_t> CallsOf(const Step& step) {
  std::vector<uint32_t> calls(step.ops.size(), kNone);
  // Calls and operators are both in the order of their begin.
  uint32_t next = 0, call = kNone;
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Position at = step.ops[i].begin;
    for (; next < step.modules.size() && step.modules[next].begin <= at; ++next) call = next;
    while (call != kNone && step.modules[call].end <= at) call = step.modules[call].parent;
    calls[i] = call;
  }
  return calls;
}

uint32_t OutermostMaker(const Step& step, uint32_t block) {
  uint32_t maker = block == kNone ? kNone : step.blocks[block].op;
  while (maker != kNone && step.ops[maker].parent != kNone) maker = step.ops[maker].parent;
  return maker;
}

uint32_t NextOutermost(const Step& step, uint32_t op) {
  do ++op;
  while (op < step.ops.size() && step.ops[op].parent != kNone);
  return op;
}

Holders::Holders(const Step& step)
    : step_(step),
      call_(CallsOf(step)),
      uses_(step.blocks.size()),
      held_(step.blocks.size()),
      lasting_(step.blocks.size(), kBefore),
      returns_(step.blocks.size(), kNone),
      named_(step.blocks.size(), kBefore),
      told_(step.blocks.size(), false),
      given_up_(step.blocks.size(), kBefore),
      makes_(step.ops.size(), false) {
  for (const Named& named : step.named) {
    named_[named.block] = named.until;
    told_[named.block] = named.all;
  }
  for (size_t i = 0; i < step.held.size(); ++i) {
    const Held& held = step.held[i];
    // Behind that the variable holds the copy.
    if (step.modules[held.call].begin > step.blocks[held.block].replaced) continue;
    held_[held.block].push_back(held.call);
    const uint32_t function = step.modules[held.call].parent;
    const Position returned = held.to_end && function != kNone ? ReturnsInTurn(i) : kForever;
    if (returned >= kForever) continue;
    returning_[{held.block, function}] = returned;  // in the last call all of its variables are told
  }
  for (const KeptResult& kept : step.kept_results) {
    const ModuleCall& call = step.modules[kept.call];
    if (call.parent == kNone || step.modules[call.parent].end >= kForever) continue;
    // Else what was returned is the copy.
    if (call.end > step.blocks[kept.block].replaced) continue;
    Position& returned = returning_[{kept.block, call.parent}];
    returned = std::max(returned, Returns(step.modules[call.parent]));
  }
  for (const auto& [in, returned] : returning_) {
    const auto [block, function] = in;
    if (returned <= lasting_[block]) continue;
    lasting_[block] = returned;
    returns_[block] = function;
  }
  for (uint32_t block = 0; block < step.blocks.size(); ++block) {
    const uint32_t maker = MakerOf(block);
    if (maker != kNone && step.blocks[block].begin >= step.ops[maker].begin) makes_[maker] = true;
  }
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    if (step.ops[i].parent != kNone || step.ops[i].node != kNone) continue;
    const std::span<const Operand> results = OutputsOf(step, step.ops[i]);
    for (const Operand& operand : InputsOf(step, step.ops[i])) {
      const bool handed_on = std::any_of(results.begin(), results.end(), [&](const Operand& result) {
        return result.block == operand.block;
      });
      if (operand.block != kNone && !handed_on) uses_[operand.block].push_back(i);
    }
  }
  FindGivenUp();
  FindGivenUpLast();
  HoldCaches(step, given_up_);
}

// A function's variables go in their order, in which they are told: before each later one that was seen to go
// then, as autograd kept nothing of it, or only what the function's other variables held together.
Position Holders::ReturnsInTurn(size_t held) const {
  const uint32_t call = step_.held[held].call;
  const ModuleCall& function = step_.modules[step_.modules[call].parent];
  const Position all = Returns(function);
  Position turn = all;
  size_t first = held, next = held + 1;
  while (first > 0 && step_.held[first - 1].call == call) --first;
  for (; next < step_.held.size() && step_.held[next].call == call; ++next) {
    const Position gone = step_.blocks[step_.held[next].block].end;
    if (!step_.held[next].to_end || gone <= step_.modules[call].end || gone >= all) continue;
    turn = std::min(turn, gone - kBeforeNext);
  }
  return turn + static_cast<Position>(held - first) * kHair;
}

bool Holders::IsKept(uint32_t block, uint32_t call) const {
  const ModuleCall& given = step_.modules[call];
  for (const uint32_t use : uses_[block]) {
    // Another call from the same function, which had returned.
    uint32_t other = call_[use];
    while (other != kNone && step_.modules[other].parent != given.parent) other = step_.modules[other].parent;
    if (other != kNone && step_.modules[other].begin > step_.blocks[block].begin &&
        step_.modules[other].end <= given.begin)
      return true;
  }
  if (IsNamedAnewBehind(step_, call, block)) return false;
  const auto begin = std::partition_point(step_.ops.begin(), step_.ops.end(),
                                          [&](const Op& op) { return op.begin < given.begin; });
  for (auto op = begin; op != step_.ops.end() && op->begin < given.end; ++op) {
    const std::span<const Operand> inputs = InputsOf(step_, *op);
    const auto is_block = [&](const Operand& operand) { return operand.block == block; };
    if (std::any_of(inputs.begin(), inputs.end(), is_block)) return false;
    // A tensor that this step made, other than what the call makes for itself.
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
  uint32_t made = 0;  // in this step; they may be parts of one block
  for (uint32_t i = 0; i < op.input_count; ++i) {
    const uint32_t block = step_.operands[op.first_input + i].block;
    if (block != kNone && step_.blocks[block].begin > kBefore) ++made;
  }
  return made > 1;
}

Position Holders::NamedAnew(const Operand& operand) const {
  const uint32_t maker = MakerOf(operand.block), call = call_[operand.op];
  if (maker == kNone || call_[maker] != call) return kForever;
  const Op& product = step_.ops[operand.op];
  for (uint32_t i = operand.op + 1; i < step_.ops.size() && step_.ops[i].begin < step_.modules[call].end;
       ++i) {
    const Op& next = step_.ops[i];
    if (call_[i] != call || next.parent != kNone || next.name != product.name) continue;
    for (const Operand& other : InputsOf(step_, next)) {
      const uint32_t again = other.argument == operand.argument ? MakerOf(other.block) : kNone;
      if (again != kNone && call_[again] == call && step_.ops[again].name == step_.ops[maker].name &&
          step_.ops[again].begin > product.end)
        return step_.ops[again].end;
    }
  }
  return kForever;
}

Position Holders::ReturnsWith(uint32_t block, uint32_t function) const {
  const auto told = returning_.find({block, function});
  return told != returning_.end() ? told->second : Returns(step_.modules[function]);
}

bool Holders::Outlives(const Operand& operand, uint32_t function) const {
  const uint32_t maker = MakerOf(operand.block);
  if (maker == kNone || call_[maker] == function) return false;
  const Position made = step_.blocks[operand.block].begin;
  for (uint32_t i = function + 1; i < step_.modules.size(); ++i) {
    const ModuleCall& other = step_.modules[i];
    if (other.begin >= step_.ops[operand.op].begin) break;
    if (other.parent != function || other.begin <= made || other.end > step_.ops[operand.op].begin) continue;
    const std::vector<uint32_t>& uses = uses_[operand.block];
    if (std::none_of(uses.begin(), uses.end(), [&](uint32_t use) {
          return other.begin <= step_.ops[use].begin && step_.ops[use].begin < other.end;
        }))
      return true;
  }
  return false;
}

// x = norm(x); y = gate(x); x = x * y; return x + 1: the one variable that had it in the last call, behind
// which the operator is, is given something else later, and the source says when. Of two the source may tell
// of one's function alone.
bool Holders::GivenElseBehind(const Operand& operand, uint32_t function, Position until) const {
  uint32_t last = kNone;
  for (uint32_t i = function + 1; i < step_.modules.size(); ++i) {
    if (step_.modules[i].begin >= step_.ops[operand.op].begin) break;
    if (step_.modules[i].parent == function) last = i;
  }
  const auto variables = std::count_if(std::ranges::lower_bound(step_.held, last, {}, &Held::call),
                                       std::ranges::upper_bound(step_.held, last, {}, &Held::call),
                                       [&](const Held& held) { return held.block == operand.block; });
  return last != kNone && variables == 1 && named_[operand.block] >= step_.ops[operand.op].end &&
         until == Returns(step_.modules[function]) && !returning_.contains({operand.block, function}) &&
         IsToldOf(step_, last);
}

bool Holders::SeenGone(const Operand& operand, uint32_t function, Position until) const {
  uint32_t last = kNone;
  for (uint32_t i = function + 1; i < step_.modules.size() && step_.modules[i].begin < until; ++i) {
    if (step_.modules[i].parent != function || step_.modules[i].begin < step_.ops[operand.op].end) continue;
    const std::vector<uint32_t>& calls = held_[operand.block];
    if (!std::binary_search(calls.begin(), calls.end(), i)) return true;
    last = i;
  }
  if (last == kNone) return GivenElseBehind(operand, function, until);
  // y = attend(...); y = f(y); y = drop(y): all that held it in the last call are given something else later,
  // and of what a product makes nothing else shows.
  return (operand.flags & trace::kTensorIsOutput) != 0 && until == Returns(step_.modules[function]) &&
         !returning_.contains({operand.block, function}) && IsToldOf(step_, last);
}

// The function called the same module before, behind the same one as now or another one of its list.
bool Holders::IsRepeated(uint32_t call) const {
  const uint32_t function = step_.modules[call].parent;
  uint32_t before = kNone;
  std::vector<uint32_t> others;  // what came before each
  for (uint32_t i = function + 1; i < call; ++i) {
    if (step_.modules[i].parent != function) continue;
    if (step_.modules[i].name == step_.modules[call].name) others.push_back(before);
    before = i;
  }
  if (others.empty()) return false;
  const std::string_view now = step_.Text(step_.modules[before].name);
  return now == step_.Text(step_.modules[call].name) ||
         std::any_of(others.begin(), others.end(), [&](uint32_t other) {
           return other != kNone && AreAlike(step_.Text(step_.modules[other].name), now);
         });
}

bool Holders::IsLast(uint32_t call) const {
  const uint32_t function = step_.modules[call].parent;
  for (uint32_t i = call + 1; i < step_.modules.size(); ++i) {
    if (step_.modules[i].begin >= step_.modules[function].end) break;
    if (step_.modules[i].parent == function) return false;
  }
  return true;
}

Position Holders::BehindLast(uint32_t block, uint32_t call) const {
  const ModuleCall& last = step_.modules[call];
  const uint32_t function = last.parent;
  if (function == kNone || IsNumbered(step_.Text(last.name))) return last.end;
  const Position returned = step_.modules[function].end;
  if (IsRepeated(call) || !IsLast(call)) return last.end;
  const uint32_t copied = step_.blocks[block].copy_of;  // a copy is used under the name of that
  for (const uint32_t use : uses_[copied != kNone ? copied : block]) {
    if (last.begin <= step_.ops[use].begin && step_.ops[use].begin < last.end) return last.end;
  }
  auto op = std::partition_point(step_.ops.begin(), step_.ops.end(),
                                 [&](const Op& one) { return one.begin < last.end; });
  for (; op != step_.ops.end() && op->begin < returned; ++op) {
    if (makes_[static_cast<size_t>(op - step_.ops.begin())] && op->end < returned) return op->end;
  }
  return last.end;
}

Holders::Lasting Holders::LastsUntil(const Operand& operand) const {
  uint32_t function = kNone;
  Position until = Guess(operand, &function);
  if (step_.ops[operand.op].node != kNone) return {until, kBefore};
  if (step_.held.empty()) return {until, named_[operand.block]};
  if (function != kNone && SeenGone(operand, function, until)) {
    // Of a function that calls no modules it has a name until that returns.
    const Op& op = step_.ops[operand.op];
    until = std::max(Guess(operand, nullptr), op.parent == kNone && MeetsAnother(op) ? op.left : kBefore);
  }
  until = std::max(until, SeenUntil(operand.block));
  const uint32_t last = returns_[operand.block];
  const bool returns = last != kNone && named_[operand.block] < step_.modules[last].end;  // in its turn
  return {until, returns ? kBefore : named_[operand.block]};
}

bool Holders::AreNamesToldIn(uint32_t function, uint32_t block) const {
  const uint32_t maker = MakerOf(block);
  return told_[block] && maker != kNone && call_[maker] == function;
}

Position Holders::SeenUntil(uint32_t block) const {
  Position until = std::max(given_up_[block], lasting_[block]);
  for (const uint32_t call : held_[block]) {
    if (step_.modules[call].end < kForever) until = std::max(until, BehindLast(block, call));
  }
  return until;
}

Position Holders::Guess(const Operand& operand, uint32_t* function) const {
  const Op& op = step_.ops[operand.op];
  const Position made = step_.blocks[operand.block].begin;
  if (op.node != kNone || made == kBefore) return kBefore;
  Position until = kBefore;
  uint32_t call = call_[operand.op];
  // Of the calls around the operator those that were given the block, and the one that they were called in.
  uint32_t given = kNone;
  for (; call != kNone && step_.modules[call].begin > made; call = step_.modules[call].parent) {
    given = call;
    until = step_.modules[call].end;
  }
  // A variable of the function around them may hold it for longer.
  const bool told = call != kNone && AreNamesToldIn(call, operand.block);
  if (call != kNone && function != nullptr && !told) {
    const bool itself = until == kBefore && op.parent == kNone;
    Position longer = kBefore;
    if (given != kNone ? IsKept(operand.block, given) : itself && Outlives(operand, call))
      longer = ReturnsWith(operand.block, call);
    if (itself && MeetsAnother(op)) longer = std::min(ReturnsWith(operand.block, call), NamedAnew(operand));
    if (longer != kBefore) *function = call, until = longer;
  }
  return until >= kForever ? kBefore : until;
}

}  // namespace vramscope::whatif
