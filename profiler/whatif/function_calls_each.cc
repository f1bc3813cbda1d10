// SPDX-License-Identifier: Apache-2.0
// Variables that get what one expression computes of each of several values.
//
//   x, y = [t.float() * 2 for t in (x, y)]     both are computed before any of them gets its name: what x was
//                                              goes when the second one is there
#include <algorithm>

#include "profiler/whatif/function_calls.h"

namespace vramscope::whatif {

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

}  // namespace vramscope::whatif
