// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/forward_parts.h"

namespace vramscope::whatif {
namespace {

// The end of the zero_grad calls that come before anything else.
Position BehindZeroGrad(const Step& step, Position begin, Position end) {
  for (const Window& window : step.zero_grad) {
    if (window.begin < begin || window.end >= end) continue;
    const bool behind_a_call =
        std::any_of(step.modules.begin(), step.modules.end(),
                    [&](const ModuleCall& call) { return call.begin >= begin && call.begin < window.begin; });
    if (!behind_a_call) begin = window.end;
  }
  return begin;
}

}  // namespace

Position LastEnd(const std::vector<Window>& backward, const std::vector<Window>& optimizer, Position before) {
  Position end = 0;
  for (const auto* windows : {&backward, &optimizer}) {
    for (const Window& window : *windows) {
      if (window.begin < before) end = std::max(end, window.end);
    }
  }
  return end;
}

std::vector<Window> ForwardParts(const Step& step) {
  if (step.OnlyForward()) return {{step.ForwardBegin(), step.ForwardEnd()}};
  std::vector<Window> parts;
  for (const Window& backward : step.backward) {
    const Position begin = LastEnd(step.backward, step.optimizer, backward.begin);
    parts.push_back({BehindZeroGrad(step, begin, backward.begin), backward.begin});
  }
  return parts;
}

std::string WhyBackwardIsMore(const Step& step) {
  for (const Node& node : step.nodes) {
    if (node.op != model::kNone && Within(step.backward, node.made))
      return "the recorded backward pass recomputes activations or builds a graph. Record without "
             "checkpointing.";
  }
  return "";
}

}  // namespace vramscope::whatif
