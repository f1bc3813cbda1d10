// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/whole_run.h"

#include <algorithm>

#include "profiler/timeline/curve.h"
#include "profiler/timeline/training.h"
#include "profiler/whatif/scene/modeled_allocator.h"
#include "profiler/whatif/step/windows.h"

namespace vramscope::whatif {
namespace {

using model::EventIndex;

struct StepMarks {
  std::optional<EventIndex> backward, optimizer, optimizer_end;
};

// The marks of each step of the training; for each mark, the first occurrence in the step.
std::vector<StepMarks> MarksOf(const timeline::Training& training) {
  std::vector<StepMarks> all;
  uint32_t number = 0;
  for (const timeline::Span& span : training.spans()) {
    if (!all.empty() && all.back().optimizer && !all.back().optimizer_end &&
        (span.step != number || span.part != timeline::Part::kOptimizer))
      all.back().optimizer_end = span.begin;
    if (span.step == 0) continue;
    if (span.step != number) all.emplace_back();
    number = span.step;
    StepMarks& marks = all.back();
    if (span.part == timeline::Part::kBackward && !marks.backward) marks.backward = span.begin;
    if (span.part == timeline::Part::kOptimizer) {
      if (!marks.optimizer) marks.optimizer = span.begin;
      marks.optimizer_end.reset();  // if there are several, the last one counts
    }
  }
  return all;
}

// The backward pass after `at` that `count` other passes precede; the last pass if there are fewer.
EventIndex PassBehind(const model::Run& run, model::ProcessIndex process, EventIndex at, size_t count) {
  for (const uint32_t index : run.processes[process].ranges) {
    const model::Range& range = run.ranges[index];
    if (range.begin < at || count == 0) continue;
    if (range.kind == trace::RangeKind::kOptimizer) break;
    if (range.kind == trace::RangeKind::kBackward && range.begin > at) at = range.begin, --count;
  }
  return at;
}

}  // namespace

std::optional<EmptyCacheAt> ParseEmptyCacheAt(std::string_view text) {
  if (text == "before-backward") return EmptyCacheAt::kBeforeBackward;
  if (text == "before-optimizer") return EmptyCacheAt::kBeforeOptimizer;
  if (text == "after-step") return EmptyCacheAt::kAfterStep;
  return std::nullopt;
}

WholeRun::WholeRun(const Step& step) : step_(step) {
  const model::Run& run = *step.run;
  const model::Device& device = run.devices[step.device];
  changes_ = device.changes.size();
  if (!device.unseen.empty()) return;
  const Result<Replayed> replayed = Replay(step.settings, EmptyCacheAt::kNever);
  if (!replayed.ok()) return;
  recorded_ = *replayed;
  const timeline::DeviceCurve curve(run, step.device);
  const auto is_exact = [&] {
    return recorded_.allocated_peak == curve.peak().bytes && recorded_.reserved_peak == curve.peak_reserved();
  };
  exact_ = is_exact();
  if (exact_ || step.cache_emptied.empty()) return;
  emptied_ = SegmentsGivenBack(run, step.device);
  if (const Result<Replayed> emptied = Replay(step.settings, EmptyCacheAt::kNever); emptied.ok())
    recorded_ = *emptied;
  exact_ = is_exact();
}

EventIndex AfterZeroGrad(const model::Run& run, model::ProcessIndex process, EventIndex at) {
  const std::vector<uint32_t>& ranges = run.processes[process].ranges;
  const auto first =
      std::lower_bound(ranges.begin(), ranges.end(), at,
                       [&](uint32_t range, EventIndex event) { return run.ranges[range].begin < event; });
  for (auto range = first; range != ranges.end(); ++range) {
    const model::Range& next = run.ranges[*range];
    if (next.kind != trace::RangeKind::kZeroGrad) {
      const bool passes = next.kind == trace::RangeKind::kScope || next.kind == trace::RangeKind::kNvtx ||
                          next.kind == trace::RangeKind::kDataLoader;
      if (passes) continue;
      break;
    }
    if (next.end != model::kNever) at = next.end;
  }
  return at;
}

std::vector<EventIndex> WholeRun::CallsOf(EmptyCacheAt where) const {
  std::vector<EventIndex> calls;
  if (where == EmptyCacheAt::kNever) return calls;
  const model::Run& run = *step_.run;
  const model::ProcessIndex process = run.devices[step_.device].process;
  const size_t passes_before = FirstBackward(step_);
  for (const StepMarks& marks : MarksOf(timeline::FindTraining(run, process))) {
    const auto& at = where == EmptyCacheAt::kBeforeBackward    ? marks.backward
                     : where == EmptyCacheAt::kBeforeOptimizer ? marks.optimizer
                                                               : marks.optimizer_end;
    if (!at) continue;
    calls.push_back(where == EmptyCacheAt::kAfterStep        ? AfterZeroGrad(run, process, *at)
                    : where == EmptyCacheAt::kBeforeBackward ? PassBehind(run, process, *at, passes_before)
                                                             : *at);
  }
  return calls;
}

Result<Replayed> WholeRun::Replay(const std::string& text, EmptyCacheAt where) const {
  const allocator::Settings settings = VRAMSCOPE_TRY(SettingsFor(step_, text));
  ModeledAllocator allocator(step_, settings);
  allocator::DeviceAllocator& model = allocator.model();

  const model::Run& run = *step_.run;
  const allocator::Statistics& statistics = model.statistics();
  const auto driver_calls = [&] { return statistics.num_device_alloc + statistics.num_device_free; };
  const auto step_end = step_.first_event + static_cast<EventIndex>(step_.length);
  uint64_t calls_before = 0, calls_of_step = 0;
  std::vector<EventIndex> empty_cache = CallsOf(where);
  empty_cache.insert(empty_cache.end(), emptied_.begin(), emptied_.end());
  std::ranges::sort(empty_cache);
  auto next = empty_cache.begin();
  ReservedThen reserved_then(statistics);
  std::vector<uint64_t> addresses(run.blocks.size(), 0);
  for (const model::Change& change : run.devices[step_.device].changes) {
    for (; next != empty_cache.end() && *next <= change.event; ++next) model.EmptyCache();
    if (change.event < step_.first_event) calls_before = driver_calls();
    const model::Block& block = run.blocks[change.block()];
    uint64_t& address = addresses[change.block()];
    if (change.freed())
      (void)model.Free(address);
    else if (const uint64_t asked = block.Requested(); asked != 0)
      address = model.Malloc(asked, block.stream).value_or(0);
    reserved_then.Look();
    if (change.event < step_end) calls_of_step = driver_calls() - calls_before;
  }
  for (; next != empty_cache.end(); ++next) model.EmptyCache();
  return Replayed{statistics.all.reserved_bytes.peak, statistics.all.allocated_bytes.peak, calls_of_step,
                  reserved_then.bytes()};
}

}  // namespace vramscope::whatif
