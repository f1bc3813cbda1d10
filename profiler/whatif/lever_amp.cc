// SPDX-License-Identifier: Apache-2.0
// Automatic mixed precision: torch.autocast around forward and loss, in float16 with a GradScaler.
#include "profiler/whatif/forward_parts.h"
#include "profiler/whatif/lever.h"
#include "profiler/whatif/precision.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

constexpr Position kHair = 1e-6;
constexpr uint64_t kScalar = 4;

class Amp final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "amp", "bf16 | fp16", "torch.autocast around the model and its loss",
        "operators with shapes and types, autograd's nodes and what they keep (a deep step)"};
    return kInfo;
  }

  bool ChangesForward() const override { return true; }

  // fp16 takes what bf16 takes and the scale of its loss beside it.
  std::vector<std::string> Settings(const Step& step) const override {
    if (!WhyNotRetyped(step, "mixed precision").empty()) return {};
    return {"bf16"};
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    if (value != "bf16" && value != "fp16")
      return Error{"--amp is bf16 or fp16, not \"" + std::string(value) + "\"."};
    if (const auto reason = WhyNotRetyped(step, "mixed precision"); !reason.empty()) return Error{reason};
    return UnderAutocast(step, value == "bf16" ? kBfloat16Type : kHalfType);
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const bool scaled = value == "fp16" && !step.OnlyForward();
    if (scaled) AddScaler(step, scene);
    Outcome outcome;
    outcome.code = std::string("with torch.autocast(\"cuda\", dtype=torch.") +
                   (value == "fp16" ? "float16" : "bfloat16") + "):\n    ";
    if (step.OnlyForward()) {
      outcome.code += "y = model(x)";
      return outcome;
    }
    outcome.code += "loss = loss_of(model(x))\n";
    outcome.code += scaled ? "scaler.scale(loss).backward()\nscaler.step(optimizer)\nscaler.update()    # "
                             "scaler = torch.amp.GradScaler(\"cuda\")"
                           : "loss.backward()";
    if (step.backward.size() > 1)
      outcome.notes.push_back("the step has " + std::to_string(step.backward.size()) +
                              " backward passes: autocast is left before each, and keeps copies of weights "
                              "anew behind it");
    return outcome;
  }

 private:
  // torch/amp/grad_scaler.py: the scale and its growth counter for good, the scaled loss until backward is
  // done, and while gradients are unscaled, one flag and the inverse of the scale.
  static void AddScaler(const Step& step, Scene& scene) {
    const auto add = [&](Position begin, Position end, Birth birth) {
      Block block;
      block.begin = begin;
      block.end = end;
      block.bytes = kScalar;
      block.birth = birth;
      block.category = birth == Birth::kOnce ? Category::kOptimizerState : Category::kTemporaryOptimizer;
      if (!step.trained.empty()) block.stream = step.blocks[step.trained.front()].stream;
      scene.blocks.push_back(block);
    };
    const Position first = scene.backward.front().begin - kHair;
    add(first - 2 * kHair, kForever, Birth::kOnce);
    add(first - kHair, kForever, Birth::kOnce);
    for (const Window& backward : scene.backward)
      add(backward.begin - kHair, backward.end + kHair, Birth::kEachStep);
    for (const Window& optimizer : scene.optimizer) {
      const Position unscaled =
          (LastEnd(scene.backward, scene.optimizer, optimizer.begin) + optimizer.begin) / 2;
      add(unscaled, optimizer.end + kHair, Birth::kEachStep);
      add(unscaled + kHair, unscaled + 2 * kHair, Birth::kEachStep);
    }
  }
};

}  // namespace

const Lever& AmpLever() {
  static const Amp lever;
  return lever;
}

}  // namespace vramscope::whatif
