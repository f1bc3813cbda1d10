// SPDX-License-Identifier: Apache-2.0
// Variables that were seen in the call of a module, behind that call.
//
//   x = self.norm(rest)      line 12
//   x = self.mix(x) + x           13: rest is seen in mix
//   x = x.flatten(2)              14: behind it, so rest still stands for the same
//   rest = x                      15
//
// Why: what a statement without operators of its own gives a variable shows only in the next call, and so
// does what one gives that a module computes. Between them a variable keeps what it was seen to hold as long
// as operators are called in lines before a statement that gives it something else. The module is surely
// called by the function itself, whose variables these are then, where the operators around the call are.
#include <algorithm>

#include "profiler/whatif/lifetimes/function_calls.h"

namespace vramscope::whatif {

using model::kNone;

void FunctionCalls::HoldBehindCalls() {
  std::unordered_map<uint32_t, std::vector<uint32_t>> own;  // by call: its operators
  for (uint32_t op = 0; op < step_.ops.size(); ++op)
    if (step_.ops[op].parent == kNone && step_.ops[op].node == kNone) own[call_of_[op]].push_back(op);
  for (const auto& [function_and_name, calls] : SeenByName()) {
    const std::vector<uint32_t>& ops = own[function_and_name.first];
    for (size_t i = 0; i < calls.size(); ++i) {
      const Seen& seen = calls[i];
      if (!seen.one || !conversions_[seen.block].empty() || IsPlaced(seen.call)) continue;
      const auto another =
          std::find_if(calls.begin() + static_cast<ptrdiff_t>(i), calls.end(),
                       [&](const Seen& later) { return !later.one || later.block != seen.block; });
      const Position until = another == calls.end() ? kForever : step_.modules[another->call].begin;
      const uint32_t last = LastBeforeGiven(ops, seen.call, until, step_.Text(function_and_name.second));
      if (last != kNone) Hold(Value{seen.block, kNone}, AssignedBehind(last));
    }
  }
}

Lines FunctionCalls::StatementOf(const Place& place) {
  const Lines lines = StatementAt(*place.function, place.line);
  return lines == Lines{} ? Lines{place.line, place.line} : lines;
}

// The last of the function's operators behind the call that surely runs before the variable is given
// anything, or in the statement that gives it that.
uint32_t FunctionCalls::LastBeforeGiven(std::span<const uint32_t> ops, uint32_t call, Position until,
                                        std::string_view name) const {
  const auto behind = std::ranges::partition_point(
      ops, [&](uint32_t op) { return step_.ops[op].begin < step_.modules[call].begin; });
  if (behind == ops.begin() || behind == ops.end()) return kNone;
  const Place& before = placed_[behind[-1]];
  if (!before.forward || !before.itself || !placed_[*behind].itself ||
      std::ranges::count(before.function->names, name) == 0)
    return kNone;
  const auto given = [&](int first, int last, Lines but) {
    return std::ranges::any_of(before.function->given, [&](const Given& one) {
      return one.name == name && one.lines != but && one.lines.first >= first && one.lines.last < last;
    });
  };
  Lines from = StatementOf(before);
  uint32_t found = kNone;
  for (auto op = behind; op != ops.end() && !IsInLoop(*before.function, from.first); ++op) {
    const Place& place = placed_[*op];
    if (place.function != before.function || step_.ops[*op].begin >= until) break;
    const Lines at = StatementOf(place);
    if (at.first < from.first || given(from.first, at.first, at)) break;
    from = at, found = *op;
  }
  return found != kNone && IsInLoop(*before.function, from.first) ? kNone : found;
}

}  // namespace vramscope::whatif
