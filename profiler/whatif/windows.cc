// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/windows.h"

#include <set>

namespace vramscope::whatif {

void AddWindows(const timeline::Step& recorded, Step& step) {
  const model::Run& run = *step.run;
  const auto within = [&](const model::Range& range) {
    return range.begin >= recorded.begin && range.begin < recorded.end && range.end != model::kNever;
  };
  std::set<std::string> classes;
  for (const uint32_t index : run.processes[run.devices[step.device].process].ranges) {
    const model::Range& range = run.ranges[index];
    if (!within(range)) continue;
    const Window window{Position(range.begin) - recorded.begin, Position(range.end) - recorded.begin};
    if (range.kind == trace::RangeKind::kBackward) step.backward.push_back(window);
    if (range.kind == trace::RangeKind::kZeroGrad) step.zero_grad.push_back(window);
    if (range.kind == trace::RangeKind::kAutocast) step.autocast.push_back(window);
    if (range.kind != trace::RangeKind::kOptimizer) continue;
    step.optimizer.push_back(window);
    classes.emplace(run.Text(range.name));
  }
  for (const std::string& name : classes)
    step.optimizer_class += (step.optimizer_class.empty() ? "" : ", ") + name;
}

}  // namespace vramscope::whatif
