// SPDX-License-Identifier: Apache-2.0
// Replaces the optimizer: other state, and other temporaries while it steps.
//
// PyTorch's own optimizers, as torch/optim/{adam,adamw,sgd}.py of 2.2 to 2.15 allocate. p = bytes of one
// parameter, P = bytes of all parameters that got a gradient:
//
//              state          while it steps
//   sgd        none           none
//   momentum   P              none (the buffer is a copy of the first gradient)
//   adam(w)    2 P            foreach: P, the square roots, to the end of the step; for-loop: up to three
//                             times the largest p, see ForLoop(); fused: none, and a count of steps on the
//                             device for each parameter
//
// Only a re-run answers Adafactor, whose matrix products take workspaces of cuBLAS, and the 8-bit optimizers of
// bitsandbytes.
//
// Weight decay is that of the class: decoupled for AdamW (no memory), 0 for the others. If the recorded
// optimizer adds its weight decay to the gradients, the others would need P more for the same. The recording
// does not show this, so a note mentions it.
#include <algorithm>
#include <string>

#include "profiler/whatif/scene/code_lines.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/training/parameters.h"
#include "profiler/whatif/training/trained.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kStepCounter = 4;  // one float

enum class Family : uint8_t { kSgd, kMomentum, kAdam, kAdamW };
enum class Way : uint8_t { kForeach, kForLoop, kFused };

struct Known {
  std::string_view name;
  Family family;
};
constexpr Known kKnown[] = {{"sgd", Family::kSgd},
                            {"momentum", Family::kMomentum},
                            {"adam", Family::kAdam},
                            {"adamw", Family::kAdamW}};

struct OptimizerChoice {
  Family family;
  Way way;
};

Result<OptimizerChoice> ParseOptimizer(std::string_view value) {
  const size_t colon = value.find(':');
  const std::string_view family = value.substr(0, colon);
  OptimizerChoice choice{};
  const auto* const known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                         [&](const Known& one) { return one.name == family; });
  if (known == std::end(kKnown))
    return Error{"--optimizer must be sgd, momentum, adam, adamw, adafactor, adam8bit or adamw8bit, not \"" +
                 std::string(family) + "\"."};
  choice.family = known->family;
  const std::string_view way = colon == std::string_view::npos ? "foreach" : value.substr(colon + 1);
  if (way == "foreach")
    choice.way = Way::kForeach;
  else if (way == "for-loop" || way == "loop")  // `try` has the second name
    choice.way = Way::kForLoop;
  else if (way == "fused")
    choice.way = Way::kFused;
  else
    return Error{"the optimizer's implementation must be foreach, for-loop or fused, not \"" +
                 std::string(way) + "\"."};
  return choice;
}

// Adds a block for a parameter, on the stream of the parameter's block. It is optimizer state if `end` is
// kForever, otherwise a temporary.
void AddOptimizerBlock(const Step& step, const TrainedParameter& parameter, Position begin, Position end,
                       uint64_t bytes, Scene& scene) {
  using classify::Category;
  Block block;
  block.begin = begin;
  block.end = end;
  block.bytes = bytes;
  block.birth = end >= kForever ? Birth::kOnce : Birth::kEachStep;
  block.category = end >= kForever ? Category::kOptimizerState : Category::kTemporaryOptimizer;
  block.stream = step.blocks[parameter.block].stream;
  scene.blocks.push_back(block);
}

class Optimizer final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("optimizer"); }

  Status Check(std::string_view value) const override {
    const auto parsed = ParseOptimizer(value);
    return parsed.ok() ? Status() : parsed.error();
  }

  // First another implementation of the same class, then classes that keep less.
  std::vector<std::string> Settings(const Step& step) const override {
    if (!OptimizerCalls(step, step.optimizer).ok()) return {};
    if (step.optimizer_class == "SGD") return {"sgd"};
    const std::string family = step.optimizer_class == "Adam" ? "adam" : "adamw";
    return {family + ":fused", family + ":for-loop", "momentum", "sgd"};
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const OptimizerChoice choice = VRAMSCOPE_TRY(ParseOptimizer(value));
    const std::vector<OptimizerCall> calls = VRAMSCOPE_TRY(OptimizerCalls(step, scene.optimizer));
    Outcome outcome;
    outcome.code = CodeLines("optimizer", value);
    if (const size_t optimizers = CountOptimizers(calls); optimizers > 1)
      outcome.notes.push_back("the step has " + std::to_string(optimizers) +
                              " optimizers: each one is replaced, with its own parameters");
    if (scene.optimizer_on_host) return outcome;
    TakeAwayOptimizer(scene);
    const bool roots = choice.family == Family::kAdam || choice.family == Family::kAdamW;
    for (const OptimizerCall& call : calls) {
      AddState(step, call, choice, scene);
      if (roots && choice.way == Way::kForeach) Foreach(step, call, scene);
      if (roots && choice.way == Way::kForLoop) ForLoop(step, call, scene);
    }
    outcome.notes.push_back(
        "weight decay is assumed to be decoupled or 0; if it is added to gradients, it needs additional "
        "memory of the size of all parameters");
    return outcome;
  }

 private:
  // Adds the state in the first step, before anything is computed, parameter by parameter.
  static void AddState(const Step& step, const OptimizerCall& call, const OptimizerChoice& choice,
                       Scene& scene) {
    const int copies = choice.family == Family::kSgd ? 0 : choice.family == Family::kMomentum ? 1 : 2;
    Position at = After(call.time.begin);
    for (const TrainedParameter& parameter : call.fresh) {
      if (copies == 2 && choice.way == Way::kFused)
        AddOptimizerBlock(step, parameter, at = After(at), kForever, kStepCounter, scene);
      for (int i = 0; i < copies; ++i)
        AddOptimizerBlock(step, parameter, at = After(at), kForever, parameter.bytes, scene);
    }
  }

  static void Foreach(const Step& step, const OptimizerCall& call, Scene& scene) {
    Position begin = call.Turn(0, 0), end = call.At(call.Hundredths() - 25);
    for (const TrainedParameter& parameter : call.stepped)
      AddOptimizerBlock(step, parameter, begin = After(begin), end = After(end), parameter.bytes, scene);
  }

  // denom = (exp_avg_sq.sqrt() / bias_correction2_sqrt).add_(eps): two blocks; the first one is freed once
  // the second exists. `denom` itself lives until the next parameter's is assigned to the same name.
  static void ForLoop(const Step& step, const OptimizerCall& call, Scene& scene) {
    constexpr int64_t kRoot = 20, kQuotient = 40, kRootGone = 60, kAssigned = 70, kOver = 100;  // percent
    for (size_t i = 0; i < call.stepped.size(); ++i) {
      const TrainedParameter& parameter = call.stepped[i];
      const uint64_t bytes = parameter.bytes;
      const bool last = i + 1 == call.stepped.size();
      AddOptimizerBlock(step, parameter, call.Turn(i, kRoot), call.Turn(i, kRootGone), bytes, scene);
      AddOptimizerBlock(step, parameter, call.Turn(i, kQuotient),
                        last ? call.Turn(i, kOver) : call.Turn(i + 1, kAssigned), bytes, scene);
    }
  }
};

// zero_grad(set_to_none=False): gradients stay, and each backward pass allocates new ones in addition to
// them.
class ZeroGrad final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("zero-grad"); }

  Status Check(std::string_view value) const override {
    if (value == "keep") return {};
    return Error{"--zero-grad must be keep (set_to_none=False), not \"" + std::string(value) + "\"."};
  }

  // Kept gradients coexist with the new ones, so this never lowers a peak.
  std::vector<std::string> Settings(const Step&) const override { return {}; }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    VRAMSCOPE_TRY(Check(value));
    std::vector<Block> kept;
    for (Block& block : scene.blocks) {
      if (block.birth != Birth::kEachStep || block.origin == model::kNone) continue;
      const Position accumulated = step.blocks[block.origin].accumulated;
      if (accumulated >= kForever || block.end <= After(accumulated, 2)) continue;
      if (block.end < scene.length) continue;                        // not kept to the end of the step
      if (step.blocks[block.origin].leaf != model::kNone) continue;  // of a batch, and freed with it
      Block twin = block;
      twin.birth = Birth::kOnce;
      twin.end = kForever;
      kept.push_back(twin);
      block.but_in_first = true;  // there is nothing to add it to yet: it becomes the kept one
      block.end = After(accumulated + (block.begin.event - step.blocks[block.origin].begin.event));
    }
    if (kept.empty()) return Error{"the recorded step sets no gradient to None: it keeps them already."};
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
