// SPDX-License-Identifier: Apache-2.0
// The lever that checkpoints modules.
#include <map>

#include "profiler/whatif/checkpoints/checkpointer.h"
#include "profiler/whatif/checkpoints/kept_ops.h"
#include "profiler/whatif/checkpoints/left_behind.h"
#include "profiler/whatif/lifetimes/caches.h"
#include "profiler/whatif/precision/out_of_place.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/training/input_gradients.h"
#include "profiler/whatif/training/mask_gradients.h"

namespace vramscope::whatif {
namespace {

// Whether one of the calls, which are in order, is within another.
bool AreNested(const Step& step, const std::vector<uint32_t>& calls) {
  for (size_t i = 1; i < calls.size(); ++i) {
    if (step.modules[calls[i]].begin < step.modules[calls[i - 1]].end) return true;
  }
  return false;
}

// Under autocast what is computed again converts its weights again too. How long the copies of modules that
// others are called between live is not known.
std::string WhyCopiesUnknown(const Step& step, const std::vector<uint32_t>& calls) {
  if (step.autocast.empty()) return "";
  std::map<std::string_view, size_t> last;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string_view path = step.Text(step.modules[calls[i]].name);
    const auto [before, first] = last.try_emplace(path, i);
    if (!first && before->second + 1 < i)
      return std::string(path) +
             " is called several times a step, others between: under autocast checkpoints are predicted for "
             "modules that are called once.";
    before->second = i;
  }
  return "";
}

class Checkpoint final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "checkpoint", "all | every:K | PATHS, also with ,ops:matmul+attention, ,inputs:PATHS or ,masks:PATHS",
        "activations of these modules are computed again in backward",
        "modules, operators and saved tensors (a deep step of a Python program)"};
    return kInfo;
  }

  // Families alone: which of their members are worth it is for a search of its own.
  std::vector<std::string> Settings(const Step& step) const override {
    if (step.backward.size() != 1) return {};
    return CheckpointFamilies(step);
  }

  std::optional<Result<Step>> Prepare(const Step& step, std::string_view value) const override {
    const Result<CheckpointChoice> choice = ParseCheckpoint(value);
    if (!choice.ok()) return {};
    std::optional<Result<Step>> prepared;
    if (!choice->inputs.empty()) prepared = AskingForGradients(step, choice->inputs);
    const auto now = [&]() -> const Step& { return prepared && prepared->ok() ? **prepared : step; };
    const auto calls = ChooseNestedSegments(now(), choice->modules);
    // What Apply refuses changes nothing.
    if (!calls.ok() || !WhyCopiesUnknown(now(), *calls).empty() || step.backward.size() != 1) return prepared;
    std::optional<Step> without_caches = WithoutCaches(now(), *calls);
    if (without_caches) prepared.emplace(std::move(*without_caches));
    if (choice->operators.empty() || (prepared && !prepared->ok()) || AreNested(now(), *calls) ||
        !FindKeptOps(now(), choice->operators).ok())
      return prepared;
    std::optional<Step> apart = WithBiasesApart(now(), *calls);
    if (apart) prepared.emplace(std::move(*apart));
    return prepared;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    if (step.backward.size() != 1) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) +
                   " backward passes; checkpointing is predicted for steps with one."};
    }
    if (const std::string why = WhyBackwardIsMore(step); !why.empty()) return Error{why};
    const Result<CheckpointChoice> choice = ParseCheckpoint(value);
    if (!choice.ok()) return choice.error();
    const auto calls = ChooseNestedSegments(step, choice->modules);
    if (!calls.ok()) return calls.error();
    if (const std::string why = WhyCopiesUnknown(step, *calls); !why.empty()) return Error{why};
    if (const std::string why = WhyFindsWhatItLeft(step, *calls); !why.empty()) return Error{why};
    if (!choice->inputs.empty())
      if (const auto asking = AskingForGradients(step, choice->inputs); !asking.ok()) return asking.error();
    const Result<std::vector<uint32_t>> masks = MasksOf(step, choice->masks);
    if (!masks.ok()) return masks.error();
    const Result<std::vector<uint32_t>> kept_ops = FindKeptOps(step, choice->operators);
    if (!kept_ops.ok()) return kept_ops.error();
    const Checkpointer checkpointer(step, *calls, *kept_ops);
    if (!checkpointer.any())
      return Error{"autograd keeps nothing of these modules that could be computed again."};
    if (checkpointer.nested() && !choice->operators.empty())
      return Error{
          "what is kept of operators is not predicted for modules that are checkpointed within others."};
    checkpointer.Change(scene);
    AddMaskGradients(step, *masks, scene);
    Outcome outcome;
    if (step.without_caches)
      outcome.notes.push_back(
          "the modules append keys and values to a cache, which would be done twice: taken "
          "to be turned off (use_cache=False)");
    outcome.extra_ns = checkpointer.RecomputedNs();
    outcome.time_basis = "host time of the recomputed calls in the recorded step; kernels are not timed";
    const std::string number =
        std::to_string(calls->size()) + (calls->size() == 1 ? " call a step" : " calls a step");
    if (choice->operators.empty()) {
      outcome.code =
          "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)    # instead of x = "
          "block(x), " +
          number;
    } else {
      outcome.code =
          "keep = functools.partial(create_selective_checkpoint_contexts, [" + KeptOpsCode(step, *kept_ops) +
          "])    # both of torch.utils.checkpoint\n"
          "x = checkpoint(block, x, use_reentrant=False, context_fn=keep)    # instead of x = block(x), " +
          number;
    }
    if (!choice->masks.empty())
      outcome.code += "\nposition_bias.requires_grad_(True)    # what " + choice->masks +
                      " makes: gradient_checkpointing_enable() of transformers' T5 does that";
    if (!choice->inputs.empty())
      outcome.code += "\nmodel.enable_input_require_grads()    # what " + choice->inputs +
                      " returns: gradient_checkpointing_enable() of transformers does that";
    return outcome;
  }
};

}  // namespace

const Lever& CheckpointLever() {
  static const Checkpoint lever;
  return lever;
}

}  // namespace vramscope::whatif
