// SPDX-License-Identifier: Apache-2.0
// Automatic mixed precision: torch.autocast around forward and loss, in float16 with a GradScaler.
#include <algorithm>
#include <utility>

#include "profiler/whatif/attention/filled_heads.h"
#include "profiler/whatif/precision/half_only.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/source/type_branches.h"
#include "profiler/whatif/step/forward_parts.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr Position kBeforeSeed = 0.25;  // autocast has been left by then
constexpr uint64_t kScalar = 4;

// loss.backward() makes a gradient of ones before it begins.
const Op* SeedOf(const Step& step, Position backward_begin) {
  const Op* last = nullptr;
  for (const Op& op : step.ops) {
    if (op.begin >= backward_begin) break;
    if (op.parent == kNone) last = &op;
  }
  return last != nullptr && step.NameOf(*last) == "aten::ones_like" ? last : nullptr;
}

Position FirstOpBehind(const Step& step, Position at) {
  const auto op =
      std::partition_point(step.ops.begin(), step.ops.end(), [&](const Op& one) { return one.begin < at; });
  return op == step.ops.end() ? step.length : op->begin;
}

Position FirstNodeEnd(const Step& step, const Window& backward) {
  Position begin = kForever, end = backward.end;
  for (const Node& node : step.nodes) {
    if (node.begin < backward.begin || node.begin >= begin) continue;
    begin = node.begin;
    end = std::min(node.end, backward.end);
  }
  return end;
}

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
    const bool unsure = std::any_of(step.other_branches.begin(), step.other_branches.end(),
                                    [](const OtherBranch& branch) { return branch.type != kHalfType; });
    if (unsure || !WhyNotRetyped(step, "mixed precision").empty()) return {};
    return {"bf16"};
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    if (value != "bf16" && value != "fp16")
      return Error{"--amp is bf16 or fp16, not \"" + std::string(value) + "\"."};
    if (const auto reason = WhyNotRetyped(step, "mixed precision"); !reason.empty()) return Error{reason};
    if (const auto op = FasterWay(step); !op.empty())
      return Error{"the step ran " + op +
                   ", which PyTorch does not do under autocast: record it after "
                   "torch.backends.mha.set_fastpath_enabled(False)."};
    const uint8_t type = value == "bf16" ? kBfloat16Type : kHalfType;
    Result<Step> changed =
        KnownBranches(step, WithFilledFlash(InLowWithHalfOnly(step, type, UnderAutocast)), type);
    // cuDNN is not asked for bfloat16.
    if (changed.ok() && type == kBfloat16Type)
      if (const auto reason = WhyOtherNorm(step, *changed); !reason.empty()) return Error{reason};
    if (changed.ok() && changed->refuses != model::kNone)
      return Error{
          "what a module made from nothing is converted to the type of a tensor, and the recording does "
          "not tell to which" +
          InModule(*changed, changed->ops[changed->refuses].begin) + "."};
    return changed;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const bool scaled = value == "fp16" && !step.OnlyForward();
    if (scaled) AddScaler(step, scene);
    Outcome outcome;
    TellOtherBranches(step, outcome);
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
  // Of attention and encoder layers without gradients (torch/nn/modules/activation.py and transformer.py).
  static std::string FasterWay(const Step& step) {
    for (const Op& op : step.ops) {
      const std::string_view name = step.NameOf(op);
      if (name == "aten::_native_multi_head_attention" || name == "aten::_transformer_encoder_layer_fwd")
        return std::string(name);
    }
    return "";
  }

  // torch/amp/grad_scaler.py: the scale and its growth counter for good, the scaled loss until backward is
  // done, its gradient until the next node has run, and while gradients are unscaled, one flag and the
  // inverse of the scale. A loss that has no name is gone once it was scaled.
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
    bool first = true;
    for (const Window& backward : scene.backward) {
      const Op* const seed = SeedOf(step, backward.begin);
      const Position scaled = (seed == nullptr ? backward.begin : seed->begin) - kBeforeSeed;
      if (first) add(scaled - 2 * kHair, kForever, Birth::kOnce);
      if (std::exchange(first, false)) add(scaled - kHair, kForever, Birth::kOnce);
      add(scaled, backward.end + kHair, Birth::kEachStep);
      add(backward.begin + kHair, FirstNodeEnd(step, backward), Birth::kEachStep);
      if (seed == nullptr || seed->input_count == 0) continue;
      const uint32_t loss = step.operands[seed->first_input].block;
      const Position behind = FirstOpBehind(step, backward.end);
      for (Block& block : scene.blocks) {
        if (block.origin == loss && loss != kNone && backward.begin < block.end && block.end < behind)
          block.end = scaled + kHair;
      }
    }
    for (const Window& optimizer : scene.optimizer) {
      const Position unscaled =
          (LastEnd(scene.backward, scene.optimizer, optimizer.begin) + optimizer.begin) / 2;
      // scale.double().reciprocal().float(); where gradients were found to be infinite, and both on the
      // device of the gradients, of which one stays until update().
      constexpr std::pair<int, int> kTemporary[] = {{0, 2}, {1, 4}, {3, 9}, {5, 10}, {7, 8}};
      for (const auto& [begin, end] : kTemporary)
        add(unscaled + begin * kHair, unscaled + end * kHair, Birth::kEachStep);
      add(unscaled + 6 * kHair, optimizer.end + kHair, Birth::kEachStep);
    }
  }
};

}  // namespace

const Lever& AmpLever() {
  static const Amp lever;
  return lever;
}

}  // namespace vramscope::whatif
