// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/build.h"

#include <algorithm>

#include "profiler/classify/usage.h"
#include "profiler/report/communication.h"
#include "profiler/report/device_choice.h"
#include "profiler/report/failed.h"
#include "profiler/report/moment_choice.h"
#include "profiler/report/notes.h"
#include "profiler/report/owners.h"
#include "profiler/text/number.h"
#include "profiler/timeline/curve.h"

namespace vramscope::report {
namespace {

using model::DeviceIndex;
using model::EventIndex;
using timeline::DeviceCurve;

std::string Metadata(const model::Run& run, std::string_view key) {
  const auto found = run.source->metadata().find(key);
  return found == run.source->metadata().end() ? std::string() : found->second;
}

class Builder {
 public:
  Builder(const classify::Analysis& analysis, const Request& request)
      : analysis_(analysis),
        run_(analysis.run()),
        request_(request),
        origins_(run_, analysis.training()),
        curves_(CurvesOf(run_)) {}

  Result<Answer> Build() {
    const DeviceIndex chosen = VRAMSCOPE_TRY(ChooseDevice(run_, curves_, request_));
    AddRun();
    AddDevices(chosen);
    AddProcesses();
    AddHostMemory(chosen);
    AddOutOfMemory();
    answer_.coverage = model::HooksOf(run_.coverage);
    if (chosen == model::kNone) {
      const trace::Metadata& metadata = run_.source->metadata();
      answer_.no_blocks = run_.devices.empty() ? WhyNoBlocks(metadata) : CachingOff(metadata);
    }
    if (chosen != model::kNone) {
      VRAMSCOPE_TRY(AddChosen(chosen));
    } else {
      VRAMSCOPE_TRY(AddEmptyMoments());
    }
    if (request_.find_savings && chosen != model::kNone)
      answer_.savings = request_.find_savings(analysis_, chosen);
    answer_.blocks_listed = request_.blocks;
    AddNotes(analysis_, chosen, inferred_blocks_, answer_);
    return std::move(answer_);
  }

 private:
  void AddRun() {
    answer_.command_line = Metadata(run_, "command_line");
    if (answer_.command_line.empty() && !run_.processes.empty()) {
      answer_.command_line = run_.processes.front().info.command_line;
    }
    answer_.framework = &model::FrameworkOf(*run_.source);
    answer_.framework_version = Metadata(run_, answer_.framework->version_key);
    answer_.duration_ns = run_.times.last_ns();
    answer_.counts_events = run_.counts_events();
    answer_.events = run_.event_count();
    answer_.damage = run_.source->damage();
    answer_.anomalies = run_.anomalies;
    // The recorder's own count includes events that it could not write after it had stopped.
    const auto counted_by_recorder = text::ParseNumber<uint64_t>(Metadata(run_, "recording.lost_events"));
    answer_.dropped_events = std::max(run_.lost_events(), counted_by_recorder.value_or(0));
  }

  // --- moments

  [[nodiscard]] const timeline::Training& TrainingOf(const DeviceCurve& curve) const {
    return analysis_.training()[curve.device().process];
  }

  // Reserved bytes before the allocator's first report. They are known if that report equals the segments of
  // the recorded driver calls: then no segment is missing.
  [[nodiscard]] std::optional<uint64_t> ReservedBefore(const DeviceCurve& curve, EventIndex event) const {
    const model::Device& device = curve.device();
    if (device.reserved.empty()) return std::nullopt;
    const model::Since& first = device.reserved.front();
    uint64_t at_first = 0, at_event = 0;
    for (const model::Segment& segment : run_.driver.segments) {
      if (segment.process != device.process || segment.device_code != device.code) continue;
      if (segment.allocation == model::kNone ||
          run_.Text(run_.driver.allocations[segment.allocation].api) == trace::kHeldFrame)
        return std::nullopt;  // from before the recording
      if (segment.begin <= first.event && first.event < segment.end) at_first += segment.size;
      if (event != model::kNever && segment.begin <= event && event < segment.end) at_event += segment.size;
    }
    return at_first == static_cast<uint64_t>(first.value) ? std::optional(at_event) : std::nullopt;
  }

  // Everything about a moment except its categories.
  [[nodiscard]] Moment MomentAfter(const DeviceCurve& curve, EventIndex event, uint64_t time_ns) const {
    Moment moment;
    moment.time_ns = time_ns;
    moment.monotonic_ns = run_.source->clock().start_monotonic_ns + time_ns;
    if (event == model::kNever) {  // before everything
      moment.reserved_bytes = ReservedBefore(curve, event);
      return moment;
    }
    moment.events = uint64_t{event} + 1;
    moment.allocated_bytes = curve.AllocatedAfter(event);
    moment.reserved_bytes = curve.ReservedAfter(event);
    if (!moment.reserved_bytes) moment.reserved_bytes = ReservedBefore(curve, event);
    moment.driver =
        DeviceMemoryAfter(run_, curve.device().process, curve.device().code, event, moment.allocated_bytes);
    if (moment.driver.has_value()) moment.device_used_bytes = moment.driver->used;
    const timeline::Span& span = TrainingOf(curve).SpanAt(event);
    moment.step = span.step;
    moment.phase = timeline::PhaseOf(span.part);
    return moment;
  }
  [[nodiscard]] uint64_t TimeAfter(EventIndex event) const {
    return event == model::kNever ? 0 : run_.times.TimeOf(event);
  }
  [[nodiscard]] Moment MomentAfter(const DeviceCurve& curve, EventIndex event) const {
    return MomentAfter(curve, event, run_.times.TimeOf(event));
  }

  // --- devices, processes

  void AddDevices(DeviceIndex chosen) {
    for (DeviceIndex index = 0; index < curves_.size(); ++index) {
      const DeviceCurve& curve = curves_[index];
      Device device;
      device.name = curve.device().name;
      device.pid = run_.processes[curve.device().process].info.pid;
      device.chosen = index == chosen;
      for (const model::Change& change : curve.device().changes) device.allocations += change.freed() ? 0 : 1;
      device.peak = MomentAfter(curve, curve.peak().event);
      const EventIndex moment[] = {curve.peak().event};
      device.peak.categories = classify::UsageAt(run_, analysis_.categories(), curve, moment)[0];
      device.peak_reserved_bytes = curve.peak_reserved();
      device.peak_requested_bytes = curve.peak_requested();
      const model::DriverDevice* driver = run_.driver.Find(curve.device().process, curve.device().code);
      if (driver != nullptr && !driver->samples.empty()) device.peak_used_bytes = driver->peak_used();
      device.end_bytes = curve.AllocatedAfter(model::kNever);
      answer_.devices.push_back(std::move(device));
    }
    std::ranges::stable_sort(answer_.devices, std::ranges::greater{},
                             [](const Device& device) { return device.peak.allocated_bytes; });
  }

  void AddProcesses() {
    for (model::ProcessIndex index = 0; index < run_.processes.size(); ++index) {
      const model::Process& from = run_.processes[index];
      Process process;
      process.pid = from.info.pid;
      process.parent_pid = from.info.parent_pid;
      process.role = RoleOf(index);
      process.command_line = from.info.command_line.empty() ? from.info.executable : from.info.command_line;
      process.exit_status = from.info.exit_status;
      process.events = from.events;
      process.steps = analysis_.training()[index].steps().size();
      for (const DeviceIndex device : from.devices) {
        process.peak_bytes = std::max(process.peak_bytes, curves_[device].peak().bytes);
      }
      answer_.processes.push_back(std::move(process));
    }
  }

  [[nodiscard]] std::string RoleOf(model::ProcessIndex process) const {
    return Metadata(run_, "process." + std::to_string(process) + ".role");
  }

  // The process that trains: `process`, or its parent if it is a worker. Parents come first in a trace.
  [[nodiscard]] model::ProcessIndex TrainerOf(model::ProcessIndex process) const {
    for (model::ProcessIndex parent = process; parent-- > 0 && RoleOf(process) == "worker";)
      if (run_.processes[parent].info.pid == run_.processes[process].info.parent_pid) process = parent;
    return process;
  }

  void AddHostMemory(DeviceIndex chosen) {
    const model::ProcessIndex process =
        TrainerOf(chosen == model::kNone ? 0 : curves_[chosen].device().process);
    if (process < analysis_.training().size())
      answer_.host_memory = FindHostMemory(run_, process, analysis_.training()[process]);
  }

  void AddOutOfMemory() {
    for (const model::OutOfMemory& from : run_.out_of_memory) {
      const model::ProcessIndex process = run_.threads[from.thread].process;
      const timeline::Span& span = analysis_.training()[process].SpanAt(from.event);
      answer_.out_of_memory.push_back({run_.times.TimeOf(from.event), run_.processes[process].info.pid,
                                       model::DeviceName(from.device_code), from.requested, span.step,
                                       timeline::PhaseOf(span.part)});
    }
  }

  // --- the chosen device

  Status AddChosen(DeviceIndex device) {
    const DeviceCurve& curve = curves_[device];
    Speak(device);
    VRAMSCOPE_TRY(AddSteps(curve));
    VRAMSCOPE_TRY(AddMoments(curve));
    AddCategories(curve);
    const EventIndex at[] = {peak_event_};
    const auto live = classify::LiveAt(run_, curve.device(), at);
    AddPeakOrigin(live[0]);
    Owners owners = FindOwners(analysis_, origins_, live[0], peak_event_, request_.top);
    answer_.owners = std::move(owners.owners);
    answer_.owned_bytes = std::move(owners.known);
    inferred_blocks_ = owners.inferred_blocks;
    answer_.notes = CommunicationNotes(analysis_, live[0], peak_event_);
    answer_.nvtx_ranges = FindNamedRanges(run_, curve, request_.top);
    if (request_.blocks) AddBlocks(curve);
    const model::EventIndex end = growth::EndOfTraining(analysis_, curve.device().process);
    answer_.growth = growth::FindGrowth(analysis_, curve, end).leaks;
    return {};
  }

  void Speak(DeviceIndex device) {
    const auto meant = ChooseDevices(run_, curves_, request_);
    const Spoken spoken = SpokenOf(run_, device, meant.ok() ? *meant : std::vector<DeviceIndex>{});
    answer_.device = spoken.device;
    answer_.pid = spoken.pid;
    answer_.rank = spoken.rank;
    answer_.others = spoken.others;
    answer_.about = spoken.text;
    answer_.failed = HowItFailed(run_, run_.devices[device].process);
  }

  // The steps, and the peak of all of them or of the requested ones.
  Status AddSteps(const DeviceCurve& curve) {
    const auto& steps = TrainingOf(curve).steps();
    size_t first = 0;
    size_t last = steps.size();
    peak_event_ = curve.peak().event;
    std::optional<uint64_t> most_reserved = curve.peak_reserved();
    if (request_.steps.has_value()) {
      if (request_.steps->first > steps.size()) return NoSuchStep(request_.steps->first, steps.size());
      first = request_.steps->first - 1;
      last = std::min<size_t>(request_.steps->second, steps.size());
      answer_.step_range = {static_cast<uint32_t>(first + 1), static_cast<uint32_t>(last)};
      peak_event_ = curve.PeakWithin(steps[first].begin, steps[last - 1].end).event;
      most_reserved = MostReserved(curve, steps[first].begin, steps[last - 1].end);
    }
    static_cast<Moment&>(answer_.peak) = MomentAfter(curve, peak_event_);
    answer_.peak.reserved_peak_bytes = most_reserved;
    for (size_t i = first; i < last; ++i) answer_.steps.push_back(StepOf(curve, steps[i]));
    CountAllocations(curve);
    return {};
  }

  [[nodiscard]] Step StepOf(const DeviceCurve& curve, const timeline::Step& from) {
    Step step;
    step.number = from.number;
    step.begin_ns = run_.times.TimeOf(from.begin);
    step.end_ns = run_.times.TimeOf(from.end);
    step.complete = from.complete;
    step.deep = from.deep && answer_.framework->has_deep_steps;
    const EventIndex peak = curve.PeakWithin(from.begin, std::max(from.end, from.begin + 1)).event;
    step.peak = MomentAfter(curve, peak);
    step.end_bytes = curve.AllocatedAfter(from.end - 1);
    step_peaks_.push_back(peak);
    return step;
  }

  void CountAllocations(const DeviceCurve& curve) {
    if (answer_.steps.empty()) return;
    const auto& steps = TrainingOf(curve).steps();
    const size_t first = answer_.steps.front().number - 1;
    size_t at = first;
    for (const model::Change& change : curve.device().changes) {
      if (change.freed() || change.event < steps[first].begin) continue;
      while (at < steps.size() && change.event >= steps[at].end) ++at;
      if (at - first >= answer_.steps.size()) return;
      ++answer_.steps[at - first].allocations;
      answer_.steps[at - first].handed_out_bytes += run_.blocks[change.block()].size;
    }
  }

  Status AddMoments(const DeviceCurve& curve) {
    for (const MomentSpec& spec : request_.at) {
      const EventIndex event = VRAMSCOPE_TRY(EventOf(curve, spec));
      moment_events_.push_back(event);
      const bool by_time = spec.kind == MomentSpec::Kind::kTime || spec.kind == MomentSpec::Kind::kMonotonic;
      answer_.moments.push_back(MomentAfter(curve, event, by_time ? TimeOf(run_, spec) : TimeAfter(event)));
      answer_.moments.back().asked = spec.text;
    }
    return {};
  }

  [[nodiscard]] Result<EventIndex> EventOf(const DeviceCurve& curve, const MomentSpec& spec) const {
    if (spec.kind == MomentSpec::Kind::kPeak) return peak_event_;
    return FindEvent(run_, curve, TrainingOf(curve), request_, spec);
  }

  // A run without allocations still has moments, with no memory. Only steps and failures cannot be requested.
  Status AddEmptyMoments() {
    for (const MomentSpec& spec : request_.at) {
      if (spec.kind == MomentSpec::Kind::kStep || spec.kind == MomentSpec::Kind::kOutOfMemory)
        return NothingAllocated(run_, "there is no " + spec.text + " to report");
      Moment moment;
      moment.asked = spec.text;
      moment.time_ns = TimeOf(run_, spec);
      moment.monotonic_ns = run_.source->clock().start_monotonic_ns + moment.time_ns;
      answer_.moments.push_back(std::move(moment));
    }
    return {};
  }

  // One pass over the blocks for all moments of the answer.
  void AddCategories(const DeviceCurve& curve) {
    std::vector<EventIndex> events = {peak_event_};
    std::vector<Moment*> moments = {&answer_.peak};
    for (size_t i = 0; i < answer_.steps.size(); ++i) {
      events.push_back(step_peaks_[i]);
      moments.push_back(&answer_.steps[i].peak);
    }
    for (size_t i = 0; i < answer_.moments.size(); ++i) {
      if (moment_events_[i] == model::kNever) continue;
      events.push_back(moment_events_[i]);
      moments.push_back(&answer_.moments[i]);
    }
    const auto usage = classify::UsageAt(run_, analysis_.categories(), curve, events);
    for (size_t i = 0; i < moments.size(); ++i) moments[i]->categories = usage[i];
  }

  void AddPeakOrigin(const std::vector<model::BlockId>& live) {
    const auto made_it = std::find_if(live.rbegin(), live.rend(), [this](model::BlockId block) {
      return run_.blocks[block].alloc_event == peak_event_;
    });
    if (made_it == live.rend()) return;
    const Place place = PlaceOf(analysis_, origins_, *made_it);
    answer_.peak.module = place.module;
    answer_.peak.node = place.node;
    answer_.peak.op = place.op;
    answer_.peak.as_in_step = place.as_in_step;
  }

  void AddBlocks(const DeviceCurve& curve) {
    std::vector<EventIndex> events;
    std::vector<Moment*> moments;
    for (size_t i = 0; i < answer_.moments.size(); ++i) {
      if (moment_events_[i] == model::kNever) continue;
      events.push_back(moment_events_[i]);
      moments.push_back(&answer_.moments[i]);
    }
    const auto live = classify::LiveAt(run_, curve.device(), events);
    for (size_t i = 0; i < moments.size(); ++i) {
      for (const model::BlockId block : live[i]) moments[i]->blocks.push_back(BlockAt(block, events[i]));
    }
  }

  [[nodiscard]] LiveBlock BlockAt(model::BlockId id, EventIndex event) {
    const classify::Stretch stretch = analysis_.categories().At(id, event);
    const Place place = PlaceOf(analysis_, origins_, id);
    LiveBlock block;
    block.number = uint64_t{id} + 1;
    block.address = run_.blocks[id].address;
    block.bytes = run_.blocks[id].size;
    block.requested_bytes = run_.blocks[id].Requested();
    block.category = stretch.category;
    block.proof = stretch.proof;
    block.name = analysis_.names().Of(id);
    block.module = place.module;
    block.op = place.node.empty() ? place.op : place.node;
    return block;
  }

  const classify::Analysis& analysis_;
  const model::Run& run_;
  const Request& request_;
  classify::Origins origins_;
  std::vector<DeviceCurve> curves_;
  Answer answer_;
  EventIndex peak_event_ = 0;
  std::vector<EventIndex> step_peaks_;     // of answer_.steps
  std::vector<EventIndex> moment_events_;  // of answer_.moments
  uint64_t inferred_blocks_ = 0;
};

}  // namespace

model::DeviceIndex DeviceOf(const model::Run& run, const Answer& answer) {
  for (DeviceIndex i = 0; i < run.devices.size(); ++i) {
    if (run.devices[i].name == answer.device && run.processes[run.devices[i].process].info.pid == answer.pid)
      return i;
  }
  return model::kNone;
}

Result<Answer> BuildAnswer(const classify::Analysis& analysis, const Request& request) {
  return Builder(analysis, request).Build();
}

}  // namespace vramscope::report
