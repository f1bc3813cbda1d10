// SPDX-License-Identifier: Apache-2.0
// Expressions that run more than once: variables that get what one computes of each of several values, and
// statements of a loop.
//
//   x, y = [t.float() * 2 for t in (x, y)]     both are computed before any of them gets its name: what x was
//                                              goes when the second one is there
#include <algorithm>

#include "profiler/whatif/lifetimes/function_calls.h"

namespace vramscope::whatif {
namespace {

// x[:, i], x.transpose(1, 2)
bool IsOnlyView(const Step& step, const Op& op) {
  const std::span<const Operand> results = OutputsOf(step, op);
  return !results.empty() && std::ranges::all_of(results, [&](const Operand& result) {
    return result.block != model::kNone && step.blocks[result.block].begin < op.begin;
  });
}

// Whether the operators are the same ones twice or more, by name.
bool IsRepetition(const Step& step, const std::vector<uint32_t>& ops) {
  for (size_t once = 1; once <= ops.size() / 2; ++once) {
    bool same = ops.size() % once == 0;
    for (size_t i = once; same && i < ops.size(); ++i)
      same = step.ops[ops[i]].name == step.ops[ops[i - once]].name;
    if (same) return true;
  }
  return false;
}

}  // namespace

// Behind its last operator. Where several calls of a function went on in its lines as one would, nothing is
// known of those before.
void FunctionCalls::SetResults(const Call& call, Call& caller, std::vector<Value> results) {
  for (size_t i = caller.made.size(); i-- > 0 && step_.ops[caller.made[i]].begin >= call.begin;)
    caller.results_of[i].clear();
  if (!caller.results_of.empty()) caller.results_of.back() = results;
  caller.results = std::move(results);
}

// None where the operators do not show which of them are of one value: the same ones of each, but where it
// calls a module, whose result it may be.
std::vector<FunctionCalls::Value> FunctionCalls::ResultsOfEach(const Call& call, uint32_t elements) const {
  const std::vector<uint32_t>& made = call.made;
  const size_t each = made.size() / elements;
  if (each == 0 || made.size() % elements != 0) return {};
  for (size_t i = each; i < made.size(); ++i)
    if (step_.ops[made[i]].name != step_.ops[made[i - each]].name) return {};
  for (uint32_t i = call_of_[made[0]] + 1; i < step_.modules.size(); ++i) {
    const Position begin = step_.modules[i].begin;
    if (begin > step_.ops[made.back()].begin) break;
    if (begin > step_.ops[made[0]].begin && IsWithin(i, call_of_[made[0]])) return {};
  }
  std::vector<Value> results;
  for (size_t last = each - 1; last < made.size(); last += each) {
    const std::vector<Value>& of_one = call.results_of[last];
    results.push_back(AllSame(of_one) ? of_one[0] : Value{});
  }
  return results;
}

// A loop that came back to the statement without an operator in another line between. One statement may take
// several views of tensors, s = s * decay[:, i] + key[:, i] @ v: that did the same again when it did all
// again.
bool FunctionCalls::RanAgain(const Call& call) const {
  if (!IsInLoop(*call.at.function, call.at.line)) return false;
  std::set<uint32_t> names;
  const bool computed = std::ranges::any_of(call.made, [&](uint32_t op) {
    return !IsOnlyView(step_, step_.ops[op]) && !names.insert(step_.ops[op].name).second;
  });
  return computed || IsRepetition(step_, call.made);
}

}  // namespace vramscope::whatif
