// SPDX-License-Identifier: Apache-2.0
// Until when the variables of a function hold what they stand for, when it returns.
#include <algorithm>

#include "profiler/whatif/lifetimes/function_calls.h"

namespace vramscope::whatif {

using model::kNone;

constexpr Position kReturned = 0.2;   // before what follows
constexpr Position kBeforeOne = 0.1;  // before another one
constexpr Position kTurn = 1e-5;      // between two that nothing is known of

bool FunctionCalls::IsGivenIn(const Lines& statement, const Call& call, std::string_view name) {
  const std::vector<Given>& given = call.at.function->given;
  return std::any_of(given.begin(), given.end(),
                     [&](const Given& one) { return one.lines == statement && one.name == name; });
}

// When the last statement of a function that returns gave its variable a value: before the others, of which
// some are seen to go.
Position FunctionCalls::AssignedLast(const Call& call, const Stack& stack) const {
  Position at = stack.next - kAssigned;
  for (const auto& [name, value] : call.variables) {
    if (value.block == kNone || IsGivenIn(call.statement, call, name)) continue;
    const Position seen = step_.blocks[value.block].end;
    if (stack.done < seen && seen <= at) at = seen - 2 * kBeforeOne;
  }
  return at;
}

bool FunctionCalls::IsNamed(const Call& call, uint32_t block) {
  return std::ranges::any_of(call.variables, [&](const auto& one) { return one.second.block == block; });
}

void FunctionCalls::NoteOneOf(Call& call, std::string_view name) {
  for (const uint32_t op : call.made)
    for (const Operand& result : OutputsOf(step_, step_.ops[op]))
      if (result.block != kNone) call.one_of[name].push_back(result.block);
}

// When a variable is seen to go as its function returns: kForever, it is not.
Position FunctionCalls::SeenToGo(const Call& call, std::string_view name, Position since,
                                 Position before) const {
  const uint32_t block = call.variables.at(name).block;
  if (block != kNone) {
    const Position seen = step_.blocks[block].end;
    return since < seen && seen < before ? seen : kForever;
  }
  Position last = kForever;
  const auto found = call.one_of.find(name);
  if (found == call.one_of.end()) return last;
  for (const uint32_t one : found->second) {
    const Position seen = step_.blocks[one].end;
    const bool later = last == kForever || seen > last;
    if (since < seen && seen < before && later && !IsNamed(call, one)) last = seen;
  }
  return last;
}

// Variables go in the order in which the function first names them, in its head or a statement: before one
// that was seen to go.
void FunctionCalls::LetGo(Call& call, const Stack& stack) {
  const bool own = IsForward(stack, call) && stack.over;  // returns with the module, whichever it called last
  Position at = (own && stack.end < kForever ? stack.end : stack.next) - kReturned;
  const std::vector<std::string>& names = call.at.function->names;
  for (size_t i = names.size(); i-- > 0;) {
    const auto variable = call.variables.find(names[i]);
    if (variable == call.variables.end()) continue;
    const Value value = variable->second;
    if (own && IsGivenBehind(call, names[i])) {
      Hold(value, stack.next - kReturned);
      continue;
    }
    if (const Position seen = SeenToGo(call, names[i], stack.done, at); seen < kForever)
      at = seen - kBeforeOne;
    Hold(value, at);
    at -= kTurn;
  }
  for (const Value& argument : call.arguments) Hold(argument, at);
}

// Of what is converted it is the copy.
void FunctionCalls::HoldElsewhere(const Value& value) {
  if (value.block != kNone && value.conversion == kNone) elsewhere_[value.block] = true;
}

void FunctionCalls::Hold(Value value, Position until) {
  if (until >= kForever) return;
  const auto extend = [until](Position& known) { known = std::max(known, until); };
  if (value.conversion != kNone) {
    extend(step_.ops[value.conversion].named);
    // Where nothing is to be converted, it handed on what it was given.
    if (value.block == kNone) value.block = OutputsOf(step_, step_.ops[value.conversion])[0].block;
  }
  if (value.block == kNone || step_.blocks[value.block].begin <= kBefore) return;
  extend(held_[value.block]);
  if (value.conversion == kNone) extend(unconverted_[value.block]);
  extend(since_[value.block].try_emplace(value.since, kBefore).first->second);
}

}  // namespace vramscope::whatif
