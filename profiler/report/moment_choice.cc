// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/moment_choice.h"

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/report/device_choice.h"

namespace vramscope::report {
namespace {

using MomentKind = timeline::MomentSpec::Kind;
using model::EventIndex;
using timeline::DeviceCurve;
using timeline::MomentSpec;

// The moment with the most reserved bytes; if there are several, the first one with the most allocated bytes.
Result<EventIndex> FullestEvent(const model::Run& run, const DeviceCurve& curve) {
  const std::vector<model::Since>& reserved = curve.device().reserved;
  const std::optional<uint64_t> most = curve.peak_reserved();
  if (!most.has_value()) return Error{"the reserved memory of this device was not recorded."};
  std::optional<timeline::Peak> fullest;
  for (size_t i = 0; i < reserved.size(); ++i) {
    if (static_cast<uint64_t>(reserved[i].value) != *most) continue;
    const EventIndex end = i + 1 < reserved.size() ? reserved[i + 1].event : run.event_count();
    const timeline::Peak there = curve.PeakWithin(reserved[i].event, std::max(end, reserved[i].event + 1));
    if (!fullest.has_value() || there.bytes > fullest->bytes) fullest = there;
  }
  return fullest->event;
}

Result<EventIndex> FailureEvent(const model::Run& run, const DeviceCurve& curve, const Request& request,
                                const MomentSpec& spec) {
  Request here = request;
  here.device = curve.device().name;
  here.pid = run.processes[curve.device().process].info.pid;
  const auto failure = ChooseFailure(run, here, spec.value);
  if (failure.has_value()) return run.out_of_memory[failure->index].event;
  const auto all = ChooseFailure(run, here, 0);
  if (!all.has_value())
    return Error{"no failed request was recorded on " + *here.device + ", so there is no " + spec.text + "."};
  return Error{"there is no " + spec.text + ": " + std::to_string(all->all) + " requests failed on " +
               *here.device + "."};
}

Result<EventIndex> NumberedEvent(const model::Run& run, uint64_t events) {
  if (events == 0) return model::kNever;
  if (events <= run.event_count()) return static_cast<EventIndex>(events - 1);
  return Error{"this trace has " + std::to_string(run.event_count()) +
               " events, so there is no event:" + std::to_string(events) + "."};
}

}  // namespace

uint64_t TimeOf(const model::Run& run, const MomentSpec& spec) {
  if (spec.kind == MomentKind::kTime) return spec.value;
  const uint64_t start = run.source->clock().start_monotonic_ns;
  return spec.value > start ? spec.value - start : 0;
}

std::optional<uint64_t> MostReserved(const DeviceCurve& curve, EventIndex begin, EventIndex end) {
  std::optional<uint64_t> most = curve.ReservedAfter(begin);
  for (const model::Since& since : curve.device().reserved) {
    if (since.event >= begin && since.event < end)
      most = std::max(most.value_or(0), static_cast<uint64_t>(since.value));
  }
  return most;
}

Error NoSuchStep(uint64_t number, uint64_t steps) {
  const std::string there = steps == 0 ? "it has no steps" : "it has steps 1 to " + std::to_string(steps);
  return Error{"this run has no step " + std::to_string(number) + ": " + there + " in this process."};
}

Result<EventIndex> FindEvent(const model::Run& run, const DeviceCurve& curve,
                             const timeline::Training& training, const Request& request,
                             const MomentSpec& spec) {
  const std::vector<timeline::Step>& steps = training.steps();
  switch (spec.kind) {
    case MomentKind::kPeak:
      return curve.peak().event;
    case MomentKind::kReserved:
      return FullestEvent(run, curve);
    case MomentKind::kWorst:
      return Error{"only vramscope frag knows the moment worst; use vramscope frag --at worst."};
    case MomentKind::kEnd:
      return run.event_count() == 0 ? model::kNever : static_cast<EventIndex>(run.event_count() - 1);
    case MomentKind::kOutOfMemory:
      return FailureEvent(run, curve, request, spec);
    case MomentKind::kStep:
      if (spec.value == 0 || spec.value > steps.size()) return NoSuchStep(spec.value, steps.size());
      return curve.PeakWithin(steps[spec.value - 1].begin, steps[spec.value - 1].end).event;
    case MomentKind::kEvent:
      return NumberedEvent(run, spec.value);
    case MomentKind::kTime:
    case MomentKind::kMonotonic:
      return run.times.LastEventAt(TimeOf(run, spec));
  }
  return curve.peak().event;
}

}  // namespace vramscope::report
