// SPDX-License-Identifier: Apache-2.0
// Variables that stand for what a module returned, until one statement gives them what it computes of another
// module's result.
//
//   x = self.norm(x)               line 12
//   x = gelu(self.convolve(x))     line 13: convolve is given what norm made; that goes behind gelu
//
//   x = self.norm(x)
//   x = self.convolve(x)           in a statement of its own: it goes before gelu
//   x = gelu(x)
//
// Why apart: operators tell the line that they were called in, modules do not in recordings of older
// recorders (function_calls_modules.cc). What a variable holds while a module is called (Step::held) and how
// many statements between two lines give it something tell these apart.
#include <algorithm>
#include <set>

#include "profiler/whatif/lifetimes/function_calls.h"
#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {

using model::kNone;

// By the function's call and the variable: what it stood for in calls that the function made, in their order.
std::map<std::pair<uint32_t, uint32_t>, std::vector<FunctionCalls::Seen>> FunctionCalls::SeenByName() const {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Seen>> seen;
  for (const Held& held : step_.held) {
    const uint32_t function = step_.modules[held.call].parent;
    if (function == kNone) continue;
    std::vector<Seen>& of_name = seen[{function, held.name}];
    if (of_name.empty() || of_name.back().call != held.call)
      of_name.push_back({held.call, held.block, true});
    else if (of_name.back().block != held.block)
      of_name.back().one = false;
  }
  return seen;
}

// A name that stands for several blocks at once, a list or names of two functions, tells nothing.
std::map<uint32_t, std::vector<FunctionCalls::InCall>> FunctionCalls::SeenInCalls() const {
  std::map<uint32_t, std::vector<InCall>> seen;
  for (const auto& [function_and_name, calls] : SeenByName())
    for (const Seen& one : calls)
      if (one.one) seen[function_and_name.first].push_back({one.call, function_and_name.second, one.block});
  for (auto& [function, calls] : seen)
    std::stable_sort(calls.begin(), calls.end(),
                     [](const InCall& a, const InCall& b) { return a.call < b.call; });
  return seen;
}

// residual = hidden between two calls of modules, in a branch: what the variable had before went there.
void FunctionCalls::NoteSeen(uint32_t function, Stack& stack, Position until) {
  constexpr Position kBehindCall = 0.1;
  const auto found = seen_in_calls_.find(function);
  if (found == seen_in_calls_.end() || stack.calls.empty() || !IsForward(stack, stack.calls.front())) return;
  for (; stack.seen < found->second.size(); ++stack.seen) {
    const InCall& seen = found->second[stack.seen];
    if (step_.modules[seen.call].begin >= until) return;
    if (IsPlaced(seen.call)) continue;
    const auto variable = stack.calls.front().variables.find(step_.Text(seen.name));
    if (variable == stack.calls.front().variables.end() || variable->second.block == kNone ||
        variable->second.conversion != kNone || variable->second.block == seen.block)
      continue;
    Position at = std::min(stack.next, step_.modules[seen.call].begin) - kAssigned;
    for (uint32_t i = seen.call; i-- > function + 1;)
      if (step_.modules[i].parent == function && step_.modules[i].end < kForever) {
        at = std::max(at, step_.modules[i].end + kBehindCall);
        break;
      }
    if (at >= step_.modules[seen.call].begin) continue;
    Hold(variable->second, at);
    variable->second = {seen.block, kNone};
  }
}

// y = self.project(x).repeat(8, 1), and a module is called behind that: it is one of the next statement when
// the variable stands for what was repeated by then.
bool FunctionCalls::IsShownNext(const Call& call, const Given& given) const {
  if (call.made.empty() || given.element >= call.results.size()) return false;
  const Value& value = call.results[given.element];
  if (value.block == kNone || value.conversion != kNone) return false;
  const uint32_t last = call.made.back(), maker = OutermostMaker(step_, value.block);
  const auto found = seen_in_calls_.find(call_of_[last]);
  if (found == seen_in_calls_.end() ||
      std::find(call.made.begin(), call.made.end(), maker) == call.made.end())
    return false;
  const auto& calls = found->second;
  const auto next = std::find_if(calls.begin(), calls.end(), [&](const InCall& seen) {
    return step_.modules[seen.call].begin >= step_.ops[last].end;
  });
  return std::any_of(next, calls.end(), [&](const InCall& seen) {
    return seen.call == next->call && seen.block == value.block && step_.Text(seen.name) == given.name;
  });
}

// x = self.dropout(x): the modules that were called since the function's last operator made nothing, so they
// returned what they were given.
bool FunctionCalls::IsHandedBack(const Call& call) const {
  if (call.made.empty()) return false;
  const Position done = step_.ops[call.made.back()].end;
  for (uint32_t op = call.made.back() + 1; op < step_.ops.size() && step_.ops[op].begin < now_; ++op)
    for (const Operand& result : OutputsOf(step_, step_.ops[op]))
      if (result.block != kNone && step_.blocks[result.block].begin >= done) return false;
  return true;
}

// x = self.project(y.reshape(8, -1)); z = gelu(x): one module was called since, and the next operator works
// on what that made last.
FunctionCalls::Value FunctionCalls::ReturnedByModule(const Call& call, const Given& given) const {
  if (call.made.empty() || call.results.size() != 1) return {};
  const uint32_t last = call.made.back(), function = call_of_[last];
  const uint32_t module = OnlyCallSince(last);
  if (module == kNone || !IsOfStatement(module, call.results[0].block, given.name)) return {};
  uint32_t made = kNone, next = last + 1;
  for (; next < step_.ops.size() && step_.ops[next].begin < now_; ++next)
    if (step_.ops[next].parent == kNone && IsWithin(call_of_[next], module)) made = next;
  if (made == kNone || next == step_.ops.size() || call_of_[next] != function) return {};
  const std::span<const Operand> taken = InputsOf(step_, step_.ops[next]);
  for (const Operand& result : OutputsOf(step_, step_.ops[made])) {
    const bool fresh =
        result.block != kNone && step_.blocks[result.block].begin > step_.modules[module].begin;
    if (fresh && conversions_[result.block].empty() &&
        std::any_of(taken.begin(), taken.end(),
                    [&](const Operand& one) { return one.block == result.block; }))
      return {result.block, kNone};
  }
  return {};
}

// The module that the function of an operator has called since, before the operator that is looked at; none
// where these are several.
uint32_t FunctionCalls::OnlyCallSince(uint32_t op) const {
  uint32_t found = kNone;
  for (uint32_t i = call_of_[op] + 1; i < step_.modules.size() && step_.modules[i].begin < now_; ++i) {
    if (step_.modules[i].parent != call_of_[op] || step_.modules[i].begin < step_.ops[op].end) continue;
    if (found != kNone) return kNone;
    found = i;
  }
  return found;
}

// x = y.reshape(8, -1); z = gelu(self.project(x)): in the call of the next statement x shows what was
// reshaped.
bool FunctionCalls::IsOfStatement(uint32_t module, uint32_t computed, std::string_view name) const {
  const auto seen = seen_in_calls_.find(step_.modules[module].parent);
  if (seen == seen_in_calls_.end()) return false;
  bool any = false;
  for (const InCall& one : seen->second) {
    if (one.call != module) continue;
    if (one.block == computed && step_.Text(one.name) == name) return false;
    any = true;
  }
  return any;
}

void FunctionCalls::HoldUntilGiven() {
  for (const auto& [function, calls] : SeenByName()) {
    HoldUntilLastGiven(function.first, calls.back(), step_.Text(function.second));
    for (size_t i = 1; i < calls.size(); ++i) {
      const Seen &before = calls[i - 1], &now = calls[i];
      if (!before.one || !now.one || before.block == now.block || !conversions_[before.block].empty() ||
          IsPlaced(before.call))
        continue;
      const uint32_t maker = OutermostMaker(step_, now.block);
      const bool behind = maker != kNone && call_of_[maker] == function.first &&
                          step_.ops[maker].begin >= step_.modules[before.call].end;
      if (behind && IsGivenAtOnce(before, maker, &now, step_.Text(function.second)))
        Hold(Value{before.block, kNone}, AssignedBehind(maker));
    }
  }
}

// x = self.norm(x); y = self.mlp(x), the last call; x = residual + y: that is there before what norm made
// goes.
void FunctionCalls::HoldUntilLastGiven(uint32_t function, const Seen& last, std::string_view name) {
  if (!last.one || !conversions_[last.block].empty() || IsPlaced(last.call)) return;
  const ModuleCall &call = step_.modules[last.call], &around = step_.modules[function];
  for (uint32_t i = last.call + 1; i < step_.modules.size() && step_.modules[i].begin < around.end; ++i)
    if (step_.modules[i].parent == function && step_.modules[i].begin >= call.end) return;
  const auto begin =
      std::ranges::partition_point(step_.ops, [&](const Op& op) { return op.begin < call.end; });
  uint32_t given = kNone;
  for (auto op = begin; op != step_.ops.end() && op->begin < around.end; ++op) {
    const auto i = static_cast<uint32_t>(op - step_.ops.begin());
    if (call_of_[i] != function || op->parent != kNone || op->node != kNone) continue;
    const Place& place = placed_[i];
    if (given != kNone &&
        (place.function != placed_[given].function ||
         StatementAt(*place.function, place.line) != StatementAt(*place.function, placed_[given].line)))
      break;
    if (given != kNone || (IsGivenAtOnce(last, i, nullptr, name) && HasAStatementEach(last.block, i)))
      given = i;
  }
  if (given != kNone) Hold(Value{last.block, kNone}, step_.ops[given].end);
}

// As many statements without operators as calls of modules lie between the last operator that the function
// called itself before the block was made, and this one: else the variable may be one of a helper that calls
// modules, and be called as one of the function's own.
bool FunctionCalls::HasAStatementEach(uint32_t block, uint32_t op) const {
  const Place& place = placed_[op];
  const uint32_t function = call_of_[op];
  Position since = step_.modules[function].begin;
  int behind = place.function->lines.first - 1;
  for (uint32_t i = op; i-- > 0 && step_.ops[i].begin >= step_.modules[function].begin;) {
    if (placed_[i].function != place.function || call_of_[i] != function ||
        step_.ops[i].begin > step_.blocks[block].begin)
      continue;
    since = step_.ops[i].end;
    behind = StatementAt(*place.function, placed_[i].line).last;
    break;
  }
  std::set<int> statements;
  for (const Given& given : place.function->given)
    if (given.what == Given::What::kReturned && given.lines.first > behind &&
        given.lines.last < StatementAt(*place.function, place.line).first)
      statements.insert(given.lines.first);
  for (uint32_t i = op; i-- > 0 && step_.ops[i].begin >= since;)
    if (placed_[i].function == place.function && call_of_[i] == function)
      statements.erase(StatementAt(*place.function, placed_[i].line).first);
  size_t calls = 0;
  for (uint32_t i = function + 1; i < step_.modules.size() && step_.modules[i].begin < step_.ops[op].begin;
       ++i)
    calls += step_.modules[i].parent == function && step_.modules[i].begin >= since;
  return statements.size() == calls;
}

// When the variable of a statement whose last operator is `op` gets its value.
Position FunctionCalls::AssignedBehind(uint32_t op) const {
  const uint32_t next = NextOutermost(step_, op);
  const auto call = std::ranges::upper_bound(step_.modules, step_.ops[op].end, {}, &ModuleCall::begin);
  Position behind = next < step_.ops.size() ? step_.ops[next].begin : kForever;
  if (call != step_.modules.end()) behind = std::min(behind, call->begin);
  behind = std::min(behind, step_.modules[call_of_[op]].end);
  return std::max(step_.ops[op].end, behind - kAssigned);
}

// By a statement behind the last operator that the function called itself: one that calls a module, or one of
// a loop that may come back to it.
bool FunctionCalls::IsGivenBehind(const Call& call, std::string_view name) {
  const Function& function = *call.at.function;
  const auto behind = [&](const Given& given) {
    return given.lines.first > call.at.line ||
           std::any_of(function.loops.begin(), function.loops.end(), [&](const Lines& loop) {
             return loop.Has(call.at.line) && loop.Has(given.lines.first);
           });
  };
  return std::any_of(function.given.begin(), function.given.end(),
                     [&](const Given& given) { return given.name == name && behind(given); });
}

// x = x.view(8, -1); y = self.project(x): it stands for the same block as before.
bool FunctionCalls::IsSeenThrough(const Seen& before, const Seen& now, const Given& given) const {
  const ModuleCall& module = step_.modules[before.call];
  if (!IsKeptBehind(before, now, given.name)) return false;
  for (uint32_t op = 0; op < step_.ops.size() && step_.ops[op].begin < module.begin; ++op) {
    const Place& place = placed_[op];
    if (call_of_[op] != module.parent || place.function == nullptr ||
        StatementAt(*place.function, place.line) != given.lines)
      continue;
    for (const Operand& result : OutputsOf(step_, step_.ops[op]))
      if (result.block == before.block && step_.blocks[result.block].begin < step_.ops[op].begin) return true;
  }
  return false;
}

// Whether the variable was not given what the module returned: another one has that in the next call, or the
// function works on the block behind the module, which no other variable stood for.
bool FunctionCalls::IsKeptBehind(const Seen& before, const Seen& now, std::string_view name) const {
  const ModuleCall& module = step_.modules[before.call];
  bool other = false;
  for (const InCall& one : seen_in_calls_.at(module.parent)) {
    if (step_.Text(one.name) == name) continue;
    const Position made = step_.blocks[one.block].begin;
    if (one.call == now.call && module.begin <= made && made < module.end) return true;
    other |= one.call == before.call && one.block == before.block;
  }
  const uint32_t last = OutermostMaker(step_, now.block);
  for (uint32_t op = 0; op <= last && !other; ++op) {
    if (call_of_[op] != module.parent || step_.ops[op].begin < module.end) continue;
    for (const Operand& taken : InputsOf(step_, step_.ops[op]))
      if (taken.block == before.block) return true;
  }
  return false;
}

bool FunctionCalls::IsGivenAtOnce(const Seen& before, uint32_t maker, const Seen* now,
                                  std::string_view name) const {
  const uint32_t block = before.block;
  const Place& place = placed_[maker];
  if (place.function == nullptr) return false;
  const Function& function = *place.function;
  const Lines statement = StatementAt(function, place.line);
  const auto gives = [&](const Given& given) { return given.name == name && given.lines == statement; };
  if (IsInLoop(function, place.line) || std::none_of(function.given.begin(), function.given.end(), gives))
    return false;
  // The last line that is known to be behind when the block was made, or the one that made it.
  int behind = function.lines.first - 1;
  bool by_module = step_.blocks[block].begin >= step_.modules[call_of_[maker]].begin;
  for (uint32_t op = maker; by_module && op-- > 0;) {
    if (step_.ops[op].begin < step_.modules[call_of_[maker]].begin) break;
    if (placed_[op].function != &function || call_of_[op] != call_of_[maker]) continue;
    if (step_.ops[op].begin > step_.blocks[block].begin) continue;
    by_module = OutermostMaker(step_, block) != op;
    behind = StatementAt(function, placed_[op].line).last;
    if (IsInLoop(function, placed_[op].line)) return false;
    break;
  }
  std::set<int> between;
  for (const Given& given : function.given)
    if (given.name == name && given.lines.first > behind && given.lines.last < statement.first &&
        (now == nullptr || !IsSeenThrough(before, *now, given)))
      between.insert(given.lines.first);
  return between.size() == (by_module ? 1 : 0);
}

}  // namespace vramscope::whatif
