// SPDX-License-Identifier: Apache-2.0
// Frozen parameters: no gradient, no optimizer state, and no activations that only they needed.
#include "profiler/whatif/training/freeze.h"

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

class Freeze final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "freeze", "PATTERN[,PATTERN...]", "parameters of these modules are not trained",
        "labels of parameters, operators, autograd's nodes and what they keep (a deep step)"};
    return kInfo;
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    if (step.backward.size() != 1 || step.optimizer.size() != 1) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) + " backward passes and " +
                   std::to_string(step.optimizer.size()) +
                   " optimizer steps; freezing is predicted for one of each."};
    }
    if (step.trained.empty() || step.nodes.empty())
      return Error{"autograd was not seen: record with its hooks (vramscope info shows which are in place)."};
    if (std::string why = WhyFlatWeights(step); !why.empty()) return Error{why};
    const auto frozen = [&](uint32_t parameter) { return BelongsToOne(step.blocks[parameter].name, value); };
    size_t count = 0;
    for (const uint32_t parameter : step.trained) {
      if (step.blocks[parameter].name.empty())
        return Error{"parameters of the recorded step have no names: record a Python program."};
      count += frozen(parameter);
    }
    if (count == 0)
      return Error{"no parameter that is trained in the recorded step is in " + std::string(value) + "."};
    if (count == step.trained.size())
      return Error{"nothing would be trained: all parameters are in " + std::string(value) + "."};
    return Frozen(step, frozen);
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene&) const override {
    Outcome outcome;
    outcome.code = "for name, parameter in model.named_parameters():\n    if <in " + std::string(value) +
                   ">: parameter.requires_grad_(False)    # before the optimizer is made";
    if (step.held.empty())
      outcome.notes.push_back(
          "where forward needs no autograd any more, what variables of the program still hold there was not "
          "recorded: a peak in forward may be higher; record again, a Python program's deep step tells it");
    outcome.notes.push_back(std::to_string(step.trained.size()) + " parameters are still trained");
    return outcome;
  }
};

}  // namespace

const Lever& FreezeLever() {
  static const Freeze lever;
  return lever;
}

}  // namespace vramscope::whatif
