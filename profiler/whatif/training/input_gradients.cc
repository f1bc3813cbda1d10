// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/input_gradients.h"

#include <string>

#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// The last operator of the call that made a node: its result is what the module returns; kNone: there is
// none.
uint32_t LastOf(const Step& step, const ModuleCall& call) {
  uint32_t last = kNone;
  Position made = kBefore;
  for (const Node& node : step.nodes) {
    if (node.op == kNone || node.made <= made) continue;
    const Op& op = step.ops[node.op];
    if (op.node != kNone || op.begin < call.begin || op.begin >= call.end) continue;
    last = node.op;
    made = node.made;
  }
  return last;
}

}  // namespace

Result<Step> AskingForGradients(const Step& step, std::string_view modules) {
  Step changed = step;
  for (std::string_view rest = modules; !rest.empty();) {
    const std::string_view pattern = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(pattern.size() + 1, rest.size()));
    bool found = false, called = false;
    for (const ModuleCall& call : step.modules) {
      if (!PathMatches(pattern, step.Text(call.name))) continue;
      called = true;
      const uint32_t last = LastOf(step, call);
      if (last == kNone) continue;
      const Op& op = step.ops[last];
      for (uint32_t i = 0; i < op.output_count; ++i)
        changed.operands[op.first_output + i].flags |= kAsksForGradient;
      found |= op.output_count > 0;
    }
    if (!found && called)
      return Error{
          std::string(pattern) +
          " computes nothing with gradients in the recorded step, which does not show what would be kept "
          "behind it: record a step in which it does."};
    if (!found)
      return Error{"no module of the recorded step that returns something computed is called " +
                   std::string(pattern) + "."};
  }
  return changed;
}

Position GraphGoes(const Step& step) {
  constexpr uint64_t kNumber = 8;
  constexpr Position kBeforeEnd = 2e-6;
  Position at = kBefore;
  if (step.backward.empty()) return step.length;
  for (const StepBlock& block : step.blocks) {
    const bool left = block.begin == kBefore && block.requested <= kNumber;
    if (left && step.ForwardBegin() <= block.end && block.end <= step.backward.front().begin)
      at = std::max(at, block.end);
  }
  return at == kBefore ? step.length - kBeforeEnd : step.length + at;
}

}  // namespace vramscope::whatif
