// SPDX-License-Identifier: Apache-2.0
// What the functions of a program return, as their source says, and what their callers have of it.
#include <algorithm>

#include "profiler/whatif/lifetimes/function_calls.h"
#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {

using model::kNone;

// The statements that may have been the one, in their order.
std::vector<const Returned*> FunctionCalls::MayHaveReturned(const Call& call) {
  std::vector<const Returned*> found;
  for (const Returned& returned : call.at.function->returned) {
    if (returned.lines.Has(call.at.line)) return {&returned};
    if (returned.lines.first < call.at.line) continue;
    found.push_back(&returned);
    if (!returned.unsure) break;
  }
  return found;
}

// Null where several statements may have been the one.
const Returned* FunctionCalls::HowItReturned(const Call& call) {
  const std::vector<const Returned*> found = MayHaveReturned(call);
  const bool same = std::ranges::all_of(found, [&](const Returned* returned) {
    return returned->names == found.front()->names && returned->kept == found.front()->kept;
  });
  return found.empty() || !same ? nullptr : found.back();
}

// if y is not None: return x, y; else: return x. Or return {"loss": x}. All that the function made but what
// these names stand for it had for itself. False where others may be returned.
bool FunctionCalls::ReturnsOnlyNamed(const Call& call, const Call& caller) {
  std::vector<Value> returned;
  for (const Returned* const one : MayHaveReturned(call)) {
    for (const std::string& name : one->names) {
      if (name == Returned::kComputed || name == Returned::kAnything) return false;
      const auto variable = call.variables.find(name);
      if (variable == call.variables.end()) {
        returned.insert(returned.end(), call.arguments.begin(), call.arguments.end());
        continue;
      }
      if (variable->second == Value{}) return false;
      returned.push_back(variable->second);
    }
  }
  for (const Value& value : returned) HoldElsewhere(value);
  for (const uint32_t op : caller.made)
    if (step_.ops[op].begin >= call.begin) for_itself_[op] = true;
  return true;
}

void FunctionCalls::HandBack(const Call& call, Call& caller) {
  if (call.at.function->returned.empty()) return;  // nothing, or an older recorder
  const Returned* const returned = HowItReturned(call);
  if (returned != nullptr && returned->names.size() == 1 && returned->names[0] == Returned::kComputed) return;
  SetResults(call, caller, {});
  const bool apart = returned != nullptr && !returned->kept;  // each of its values is what one name stood for
  if (!apart && ReturnsOnlyNamed(call, caller)) return;
  if (!apart || returned->names[0] == Returned::kAnything) return Untold(caller.made);
  SetResults(call, caller, ValuesOf(call, *returned));
  if (caller.results.empty()) return Untold(caller.made);
  caller.called = false;
  KeepTheOthers(call, caller);
}

// return y, z: whatever the caller returns, it has not got what else the function made.
void FunctionCalls::KeepTheOthers(const Call& call, const Call& caller) {
  std::set<uint32_t> returned;
  for (const Value& value : caller.results) {
    if (value == Value{}) return;
    returned.insert(value.block);
    if (value.conversion != kNone) returned.insert(OutputsOf(step_, step_.ops[value.conversion])[0].block);
  }
  for (const uint32_t op : caller.made) {
    if (step_.ops[op].begin < call.begin) continue;
    const std::span<const Operand> results = OutputsOf(step_, step_.ops[op]);
    if (std::ranges::none_of(results, [&](const Operand& one) { return returned.contains(one.block); }))
      for_itself_[op] = true;
  }
}

// None where what is computed in its statement cannot be told apart. What it was given may be what it
// returns.
std::vector<FunctionCalls::Value> FunctionCalls::ValuesOf(const Call& call, const Returned& returned) {
  const auto computed = std::count(returned.names.begin(), returned.names.end(), Returned::kComputed);
  const bool there = returned.lines.Has(call.at.line);
  if (computed > 0 && (!there || static_cast<size_t>(computed) != call.made.size())) return {};
  std::vector<Value> values;
  size_t next = 0;
  for (const std::string& name : returned.names) {
    const auto variable = call.variables.find(name);
    if (name == Returned::kComputed) {
      const std::vector<Value> results = ResultsOfOp(call.made[next++]);
      values.push_back(AllSame(results) ? results[0] : Value{});
      continue;
    }
    values.push_back(variable == call.variables.end() ? Value{} : variable->second);
    if (variable != call.variables.end() || name == Returned::kAnything) continue;
    for (const Value& argument : call.arguments) HoldElsewhere(argument);
  }
  return values;
}

// x, y = mask(x, y), without operators: what is worked on behind that, and what no other variable has, is
// what the call handed back.
bool FunctionCalls::IsOnlyHolder(const Call& call, std::string_view name) const {
  const auto variable = call.variables.find(name);
  if (variable == call.variables.end() || variable->second.block == kNone) return false;
  const uint32_t block = variable->second.block;
  // Of what was there before its callers have a name.
  const uint32_t maker = OutermostMaker(step_, block);
  if (maker == kNone || elsewhere_[block] || step_.ops[maker].begin < call.begin) return false;
  for (const auto& [other, value] : call.variables)
    if (other != name && value.block == block) return false;
  for (auto op = std::ranges::lower_bound(step_.ops, now_, {}, &Op::begin); op != step_.ops.end(); ++op) {
    if (op->node != kNone || op->parent != kNone) continue;
    if (std::ranges::any_of(InputsOf(step_, *op), [&](const Operand& one) { return one.block == block; }))
      return true;
  }
  return false;
}

}  // namespace vramscope::whatif
