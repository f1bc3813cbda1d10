// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/asked_values.h"

#include <set>
#include <utility>
#include <vector>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr int kMostSteps = 6;  // (x > 0).any() & y ... from what is asked to what has a gradient

class Origins {
 public:
  explicit Origins(const Step& step) : step_(step), has_gradient_(step.blocks.size(), false) {
    for (const Operand& operand : step.operands)
      if (operand.block != kNone && (operand.flags & trace::kTensorRequiresGrad) != 0)
        has_gradient_[operand.block] = true;
  }

  // Whether it is computed from weights, whatever that says of its own gradient.
  [[nodiscard]] bool IsOfWeights(uint32_t asked) const {
    std::set<uint32_t> met = {asked}, found = {asked};
    for (int steps = 0; steps < kMostSteps && !found.empty(); ++steps) {
      std::set<uint32_t> before;
      for (const uint32_t block : found) {
        if (block == kNone) continue;
        if (has_gradient_[block]) return true;
        const uint32_t maker = OutermostMaker(step_, block);
        if (maker == kNone) continue;
        for (const Operand& input : InputsOf(step_, step_.ops[maker]))
          if (met.insert(input.block).second) before.insert(input.block);
      }
      found = std::move(before);
    }
    return false;
  }

 private:
  const Step& step_;
  std::vector<bool> has_gradient_;  // by block
};

}  // namespace

std::string WhyGoneOnByValues(const Step& step) {
  const Origins origins(step);
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.input_count == 0 || step.NameOf(op) != "aten::is_nonzero") continue;
    const uint32_t call = CallAt(step, op.begin);
    if (call == kNone || !origins.IsOfWeights(InputsOf(step, op)[0].block)) continue;
    return std::string(step.Text(step.modules[call].name)) +
           " goes on by what it has computed (is_nonzero), and values for other lengths are not known: "
           "record it at that length.";
  }
  return "";
}

}  // namespace vramscope::whatif
