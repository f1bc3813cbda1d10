// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/windows.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

std::vector<model::EventIndex> SegmentsGivenBack(const model::Run& run, model::DeviceIndex device) {
  std::vector<model::EventIndex> ends, first;
  for (const model::Segment& segment : run.driver.segments) {
    if (segment.process == run.devices[device].process && segment.device_code == run.devices[device].code &&
        segment.end != model::kNever && !segment.mapped)
      ends.push_back(segment.end);
  }
  std::ranges::sort(ends);
  auto change = run.devices[device].changes.begin();
  const auto last = run.devices[device].changes.end();
  for (const model::EventIndex end : ends) {
    const auto before = change;
    while (change != last && change->event < end) ++change;
    if (first.empty() || change != before) first.push_back(end);
  }
  return first;
}

void AddEmptying(Step& step) {
  for (const model::EventIndex end : SegmentsGivenBack(*step.run, step.device)) {
    if (end < step.first_event || end >= step.end_event) continue;
    const Position at = Position(end) - step.first_event;
    auto op = std::ranges::upper_bound(step.ops, at, {}, &Op::begin);
    if (op != step.ops.begin()) {
      --op;
      while (op->parent != model::kNone) op = step.ops.begin() + op->parent;
      if (op->end > at) continue;
    }
    step.cache_emptied.push_back(In(Stage::kEmpties, at));
  }
}

size_t FirstBackward(const Step& step) {
  if (step.backward.size() < 2) return 0;  // most steps: nothing to search
  const auto gives = [&](const Window& pass) {
    return std::ranges::any_of(step.blocks, [&](const StepBlock& block) {
      return block.accumulated >= pass.begin && block.accumulated < pass.end;
    });
  };
  const auto found = std::ranges::find_if(step.backward, gives);
  return found == step.backward.end() ? 0 : static_cast<size_t>(found - step.backward.begin());
}

std::string WhyBackwardInForward(const Step& step, std::string_view what) {
  if (FirstBackward(step) == 0) return "";
  return "the step's first backward pass gives no parameter a gradient, as with uncompiled flex_attention() "
         "or with forces as gradients of energies: " +
         std::string(what) + " is predicted only for steps without such a pass.";
}

void LeaveOutFirstBatch(Step& step) {
  constexpr Position kWhenTheLoopBegins = -1;
  const Position forward = step.modules.empty() ? 0 : step.modules.front().begin;
  std::map<std::pair<uint64_t, uint16_t>, size_t> batch;  // by bytes and stream: count
  for (const StepBlock& block : step.blocks)
    if (block.begin >= 0 && block.begin < forward && block.id != model::kNone)
      ++batch[{step.run->blocks[block.id].size, block.stream}];
  std::erase_if(step.passing, [&](const Passing& one) {
    const auto found = batch.find({one.bytes, one.stream});
    if (one.end != kWhenTheLoopBegins || found == batch.end() || found->second == 0) return false;
    --found->second;
    return true;
  });
}

}  // namespace vramscope::whatif
