// SPDX-License-Identifier: Apache-2.0
// Another optimizer: other state, and other memory while it steps.
//
// PyTorch's own, as torch/optim/{adam,adamw,sgd}.py of 2.2 to 2.15 allocate. p = bytes of one parameter, P =
// of all that got a gradient:
//
//              state          while it steps
//   sgd        none           none
//   momentum   P              none (the buffer is a copy of the first gradient)
//   adam(w)    2 P            foreach: P, the square roots, to the end of the step; for-loop: up to three
//   times the largest p, see
//                             ForLoop(); fused: none, and a count of steps on the device for each parameter
//
// Weight decay is that of the class: decoupled for AdamW (no memory), 0 for the others. Where a recorded
// optimizer decays by adding to gradients the others would do so too, with P more; it is not known here, and
// said.
#include <string>

#include "profiler/whatif/lever.h"
#include "profiler/whatif/parameters.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

constexpr Position kHair = 1e-6;
constexpr uint64_t kStepCounter = 4;  // one float

enum class Family : uint8_t { kSgd, kMomentum, kAdam, kAdamW };
enum class Way : uint8_t { kForeach, kForLoop, kFused };

struct Choice {
  Family family;
  Way way;
};

Result<Choice> Parse(std::string_view value) {
  const size_t colon = value.find(':');
  const std::string_view family = value.substr(0, colon);
  const std::string_view way = colon == std::string_view::npos ? "foreach" : value.substr(colon + 1);
  Choice choice{};
  if (family == "sgd")
    choice.family = Family::kSgd;
  else if (family == "momentum")
    choice.family = Family::kMomentum;
  else if (family == "adam")
    choice.family = Family::kAdam;
  else if (family == "adamw")
    choice.family = Family::kAdamW;
  else
    return Error{"--optimizer knows sgd, momentum, adam and adamw, not \"" + std::string(family) + "\"."};
  if (way == "foreach")
    choice.way = Way::kForeach;
  else if (way == "for-loop")
    choice.way = Way::kForLoop;
  else if (way == "fused")
    choice.way = Way::kFused;
  else
    return Error{"an optimizer steps foreach, for-loop or fused, not \"" + std::string(way) + "\"."};
  return choice;
}

class Optimizer final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {"optimizer",
                                        "sgd | momentum | adam | adamw, with :foreach, :for-loop or :fused",
                                        "another optimizer, or another way to step",
                                        "a deep step, and labels of parameters and optimizer state"};
    return kInfo;
  }

  // Another way to step of the same class, then classes that keep less.
  std::vector<std::string> Settings(const Step& step) const override {
    if (step.optimizer.size() != 1 || step.trained.empty()) return {};
    if (step.optimizer_class == "SGD") return {"sgd"};
    const std::string family = step.optimizer_class == "Adam" ? "adam" : "adamw";
    return {family + ":fused", family + ":for-loop", "momentum", "sgd"};
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const Result<Choice> choice = Parse(value);
    if (!choice.ok()) return choice.error();
    if (step.optimizer.size() != 1)
      return Error{"the recorded step has " + std::to_string(step.optimizer.size()) +
                   " optimizer steps; which of them is to be changed cannot be said yet."};
    if (step.trained.empty())
      return Error{
          "no parameter was seen to get a gradient: record with the hooks of autograd (vramscope info shows "
          "which are in place)."};
    TakeAwayOptimizer(scene);
    const Position begin = scene.optimizer_begin;
    const Position width = (scene.optimizer_end - begin) / static_cast<Position>(step.trained.size() + 2);
    AddState(step, *choice, begin, scene);
    if (choice->family == Family::kAdam || choice->family == Family::kAdamW) {
      if (choice->way == Way::kForeach) Foreach(step, begin + width / 2, width / 2, scene);
      if (choice->way == Way::kForLoop) ForLoop(step, begin + width / 2, width, scene);
    }
    Outcome outcome;
    outcome.code = Code(*choice);
    outcome.notes.push_back(
        "weight decay is taken as decoupled or 0; added to gradients it takes the size of all parameters "
        "more");
    return outcome;
  }

 private:
  static void Add(Position begin, Position end, uint64_t bytes, Birth birth, const Block& like,
                  Scene& scene) {
    Block block;
    block.begin = begin;
    block.end = end;
    block.bytes = bytes;
    block.birth = birth;
    block.category = birth == Birth::kOnce ? Category::kOptimizerState : Category::kTemporaryOptimizer;
    block.stream = like.stream;
    scene.blocks.push_back(block);
  }

  static Block Like(const Step& step, uint32_t parameter) {
    Block like;
    like.stream = step.blocks[parameter].stream;
    like.bytes = step.blocks[parameter].requested;
    return like;
  }

  // In the first step, before anything is computed, parameter by parameter.
  static void AddState(const Step& step, const Choice& choice, Position begin, Scene& scene) {
    const int copies = choice.family == Family::kSgd ? 0 : choice.family == Family::kMomentum ? 1 : 2;
    Position at = begin + kHair;
    for (const uint32_t parameter : step.trained) {
      const Block like = Like(step, parameter);
      if (copies == 2 && choice.way == Way::kFused)
        Add(at += kHair, kForever, kStepCounter, Birth::kOnce, like, scene);
      for (int i = 0; i < copies; ++i) Add(at += kHair, kForever, like.bytes, Birth::kOnce, like, scene);
    }
  }

  static void Foreach(const Step& step, Position begin, Position width, Scene& scene) {
    Position at = begin;
    for (const uint32_t parameter : step.trained) {
      const Block like = Like(step, parameter);
      at += kHair;
      Add(at, scene.optimizer_end - width / 2 + at - begin, like.bytes, Birth::kEachStep, like, scene);
    }
  }

  // denom = (exp_avg_sq.sqrt() / bias_correction2_sqrt).add_(eps): two blocks, the first one gone when the
  // second is there; `denom` itself lives until the next parameter's is assigned to the same name.
  static void ForLoop(const Step& step, Position begin, Position width, Scene& scene) {
    constexpr Position kRoot = 0.2, kQuotient = 0.4, kRootGone = 0.6, kAssigned = 0.7;
    for (size_t i = 0; i < step.trained.size(); ++i) {
      const Block like = Like(step, step.trained[i]);
      const Position at = begin + width * static_cast<Position>(i);
      const bool last = i + 1 == step.trained.size();
      Add(at + width * kRoot, at + width * kRootGone, like.bytes, Birth::kEachStep, like, scene);
      Add(at + width * kQuotient, last ? at + width : at + width * (1 + kAssigned), like.bytes,
          Birth::kEachStep, like, scene);
    }
  }

  static std::string Code(const Choice& choice) {
    std::string code = choice.family == Family::kAdam    ? "torch.optim.Adam(model.parameters(), lr=..."
                       : choice.family == Family::kAdamW ? "torch.optim.AdamW(model.parameters(), lr=..."
                                                         : "torch.optim.SGD(model.parameters(), lr=...";
    if (choice.family == Family::kMomentum) code += ", momentum=0.9";
    if (choice.way == Way::kForLoop) code += ", foreach=False";
    if (choice.way == Way::kFused) code += ", fused=True";
    return code + ")";
  }
};

// zero_grad(set_to_none=False): gradients stay where they are, and each backward pass computes new ones
// beside them.
class ZeroGrad final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {"zero-grad", "keep", "optimizer.zero_grad(set_to_none=False)",
                                        "a deep step with gradients that are set to none"};
    return kInfo;
  }

  // Kept gradients lie beside the new ones: no peak falls with it.
  std::vector<std::string> Settings(const Step&) const override { return {}; }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    if (value != "keep")
      return Error{"--zero-grad is keep (set_to_none=False), not \"" + std::string(value) + "\"."};
    std::vector<Block> kept;
    for (Block& block : scene.blocks) {
      if (block.birth != Birth::kEachStep || block.origin == model::kNone) continue;
      const Position accumulated = step.blocks[block.origin].accumulated;
      if (accumulated >= kForever || block.end <= accumulated + 2 * kHair) continue;
      if (block.end < scene.length) continue;  // not kept to the end of the step
      Block twin = block;
      twin.birth = Birth::kOnce;
      twin.end = kForever;
      kept.push_back(twin);
      block.but_in_first = true;  // there is nothing to add it to yet: it becomes the kept one
      block.end = block.begin + accumulated - step.blocks[block.origin].begin + kHair;
    }
    if (kept.empty()) return Error{"no gradient of the recorded step is set to none: they are kept already."};
    scene.blocks.insert(scene.blocks.end(), kept.begin(), kept.end());
    Outcome outcome;
    outcome.code = "optimizer.zero_grad(set_to_none=False)";
    return outcome;
  }
};

}  // namespace

const Lever& OptimizerLever() {
  static const Optimizer lever;
  return lever;
}

const Lever& ZeroGradLever() {
  static const ZeroGrad lever;
  return lever;
}

}  // namespace vramscope::whatif
