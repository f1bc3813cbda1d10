// SPDX-License-Identifier: Apache-2.0
// Lists that modules are given and write into, as causal convolutions do that go through a film piece by
// piece:
//
//   x = block(x, cache)         cache[i] = x[:, :, -2:].clone() in it; the next call of block reads that
//
// fully_shard() puts a node of its own in front of each tensor that requires a gradient in what a module is
// given, and the lists around these are made anew (_replace_grad_tensors in torch/distributed/fsdp/
// _common_utils.py): what is written into them is gone when the module returns, and the program goes another
// way than the recorded one, or computes something else.
#include <algorithm>
#include <map>
#include <set>

#include "profiler/whatif/shard/shard.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

using Blocks = std::set<uint32_t>;
using Variables = std::map<uint32_t, Blocks>;  // by name

class Writers {
 public:
  explicit Writers(const Step& step) : step_(step), held_(step.modules.size()) {
    for (const Held& held : step.held)
      if (held.call != kNone) held_[held.call][held.name].insert(held.block);
    for (const Operand& operand : step.operands)
      if (operand.block != kNone && (operand.flags & trace::kTensorRequiresGrad) != 0)
        differentiable_.insert(operand.block);
  }

  // The name of the caller's variable that has it.
  [[nodiscard]] uint32_t WrittenBy(uint32_t call) const {
    if (held_[call].empty()) return kNone;
    const uint32_t next = NextBeside(call);
    if (next == kNone) return kNone;
    for (const auto& [name, given] : held_[call]) {
      const auto after = held_[next].find(name);
      if (after == held_[next].end() || !Meet(given, differentiable_)) continue;
      Blocks written;
      for (const uint32_t block : after->second)
        if (IsMadeIn(call, block)) written.insert(block);
      // Else it may be what the module returned.
      const bool kept = Meet(given, after->second) && ReturnsOther(call, next, name, after->second);
      if (kept && HasBoth(call, given, written)) return name;
    }
    return kNone;
  }

 private:
  static bool Meet(const Blocks& a, const Blocks& b) {
    return std::ranges::any_of(a, [&](uint32_t block) { return b.contains(block); });
  }

  [[nodiscard]] bool IsMadeIn(uint32_t call, uint32_t block) const {
    const Position made = step_.blocks[block].begin;
    return step_.modules[call].begin < made && made < step_.modules[call].end;
  }

  // The call that comes next in the function that called it.
  [[nodiscard]] uint32_t NextBeside(uint32_t call) const {
    for (uint32_t i = call + 1; i < step_.modules.size(); ++i)
      if (step_.modules[i].parent == step_.modules[call].parent &&
          step_.modules[i].begin >= step_.modules[call].end)
        return i;
    return kNone;
  }

  [[nodiscard]] bool ReturnsOther(uint32_t call, uint32_t next, uint32_t name, const Blocks& listed) const {
    return std::ranges::any_of(held_[next], [&](const auto& variable) {
      return variable.first != name && std::ranges::any_of(variable.second, [&](uint32_t block) {
               return IsMadeIn(call, block) && !listed.contains(block);
             });
    });
  }

  // Whether a variable within the call had some of what it was given, and of what it wrote.
  [[nodiscard]] bool HasBoth(uint32_t call, const Blocks& given, const Blocks& written) const {
    for (uint32_t i = call + 1; i < step_.modules.size() && step_.modules[i].begin < step_.modules[call].end;
         ++i) {
      for (const auto& [name, blocks] : held_[i])
        if (Meet(blocks, given) && Meet(blocks, written)) return true;
    }
    return false;
  }

  const Step& step_;
  std::vector<Variables> held_;  // by call of a module
  Blocks differentiable_;
};

}  // namespace

std::string WhyListsAreLost(const Step& step, const std::vector<uint32_t>& calls) {
  if (step.held.empty()) return "";
  const Writers writers(step);
  for (const uint32_t call : calls) {
    const uint32_t name = writers.WrittenBy(call);
    if (name == kNone) continue;
    return std::string(step.Text(step.modules[call].name)) + " writes into " + std::string(step.Text(name)) +
           ", which it is given: fully_shard() gives modules copies of lists with tensors that require "
           "gradients, so what the program does without what was written cannot be predicted. Return it "
           "instead.";
  }
  return "";
}

}  // namespace vramscope::whatif
