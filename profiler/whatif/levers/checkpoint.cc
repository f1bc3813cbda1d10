// SPDX-License-Identifier: Apache-2.0
// The lever that checkpoints modules.
#include <map>

#include "profiler/whatif/checkpoints/checkpointer.h"
#include "profiler/whatif/checkpoints/kept_ops.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {
namespace {

// Returns one sentence, or "" if it is known how long autocast's copies of the weights live. The
// recomputation converts the weights again. If a checkpointed module is called again after other modules, it
// is unknown how long these copies live.
std::string WhyCopiesUnknown(const Step& step, const std::vector<CallIndex>& calls) {
  if (step.autocast.empty()) return "";
  std::map<std::string_view, size_t> last;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string_view path = step.Text(step.modules[calls[i]].name);
    const auto [before, first] = last.try_emplace(path, i);
    if (!first && before->second + 1 < i)
      return std::string(path) +
             " is called several times a step, with other modules in between. Under autocast, checkpointing "
             "is predicted only for modules that are called once.";
    before->second = i;
  }
  return "";
}

class Checkpoint final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("checkpoint"); }

  Status Check(std::string_view value) const override {
    const auto parsed = ParseCheckpoint(value);
    return parsed.ok() ? Status() : parsed.error();
  }

  // Families only: a separate search decides which of their members to checkpoint.
  std::vector<std::string> Settings(const Step& step) const override {
    if (step.backward.size() != 1) return {};
    return CheckpointFamilies(step);
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    if (step.backward.size() != 1) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) +
                   " backward passes; checkpointing is predicted only for steps with one."};
    }
    if (const std::string why = WhyBackwardIsMore(step); !why.empty()) return Error{why};
    const CheckpointChoice choice = VRAMSCOPE_TRY(ParseCheckpoint(value));
    const std::vector<CallIndex> calls = VRAMSCOPE_TRY(ChooseNestedSegments(step, choice.modules));
    if (const std::string why = WhyCopiesUnknown(step, calls); !why.empty()) return Error{why};
    const std::vector<OpIndex> kept_ops = VRAMSCOPE_TRY(FindKeptOps(step, choice.operators));
    const Checkpointer checkpointer(step, calls, kept_ops);
    if (!checkpointer.any())
      return Error{"autograd saves no tensors of these modules that can be recomputed."};
    if (checkpointer.nested() && !choice.operators.empty())
      return Error{"ops: is not predicted for checkpointed modules inside other checkpointed modules."};
    checkpointer.Change(scene);
    Outcome outcome;
    outcome.extra_ns = checkpointer.RecomputedNs();
    outcome.time_basis = "host time of the recomputed calls in the recorded step; kernels are not timed";
    const std::string number =
        std::to_string(calls.size()) + (calls.size() == 1 ? " call a step" : " calls a step");
    if (choice.operators.empty()) {
      outcome.code =
          "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)    # instead of x = "
          "block(x), " +
          number;
    } else {
      outcome.code =
          "keep = functools.partial(create_selective_checkpoint_contexts, [" + KeptOpsCode(step, kept_ops) +
          "])    # both of torch.utils.checkpoint\n"
          "x = checkpoint(block, x, use_reentrant=False, context_fn=keep)    # instead of x = block(x), " +
          number;
    }
    return outcome;
  }
};

}  // namespace

const Lever& CheckpointLever() {
  static const Checkpoint lever;
  return lever;
}

}  // namespace vramscope::whatif
