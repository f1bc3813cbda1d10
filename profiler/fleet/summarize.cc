// SPDX-License-Identifier: Apache-2.0
// Computes the figures of a run's ranks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "profiler/classify/usage.h"
#include "profiler/fleet/rank_summary.h"
#include "profiler/growth/growth.h"
#include "profiler/model/launch.h"
#include "profiler/report/device_choice.h"
#include "profiler/report/device_memory.h"
#include "profiler/report/failed.h"
#include "profiler/text/format.h"
#include "profiler/timeline/curve.h"

namespace vramscope::fleet {
namespace {

using model::DeviceIndex;
using model::EventIndex;
using model::ProcessIndex;
using timeline::DeviceCurve;

// The hash function FNV-1a.
class Hash {
 public:
  void Add(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3u; }
  [[nodiscard]] std::string Text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_));
    return text;
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

// The hash of sorted names; "" if there are none.
std::string HashOf(const std::set<std::string_view>& names) {
  Hash hash;
  for (const std::string_view name : names) {
    for (const char c : name) hash.Add(static_cast<unsigned char>(c));
    hash.Add(0);
  }
  return names.empty() ? "" : hash.Text();
}

std::string HashOf(const std::vector<uint64_t>& sizes) {
  Hash hash;
  for (const uint64_t size : sizes)
    for (int byte = 0; byte < 8; ++byte) hash.Add(static_cast<unsigned char>(size >> (8 * byte)));
  return sizes.empty() ? "" : hash.Text();
}

class RankSummarizer {
 public:
  RankSummarizer(const classify::Analysis& analysis, const std::string& file)
      : analysis_(analysis), run_(analysis.run()), file_(file), curves_(report::CurvesOf(run_)) {
    FindModels();
  }

  std::vector<RankSummary> All() {
    std::vector<RankSummary> ranks;
    const auto devices = report::ChooseDevices(run_, curves_, {});
    if (!devices.ok()) return ranks;
    for (const DeviceIndex device : ForRanks(*devices)) ranks.push_back(Of(device));
    return ranks;
  }

 private:
  // The devices that count as ranks. A process with a known rank has only one: the one with the highest peak.
  [[nodiscard]] std::vector<DeviceIndex> ForRanks(const std::vector<DeviceIndex>& devices) const {
    std::map<ProcessIndex, DeviceIndex> fullest;
    for (const DeviceIndex device : devices) {
      const auto [best, first] = fullest.try_emplace(run_.devices[device].process, device);
      if (!first && curves_[device].peak().bytes > curves_[best->second].peak().bytes) best->second = device;
    }
    std::vector<DeviceIndex> chosen;
    for (const DeviceIndex device : devices) {
      const ProcessIndex process = run_.devices[device].process;
      const bool one_of_rank = report::RankOf(run_, process).has_value();
      if (!IsBesideAnother(process, fullest) && (!one_of_rank || fullest[process] == device))
        chosen.push_back(device);
    }
    return chosen;
  }

  // True if another process with the same rank has a higher peak. A data loader's workers inherit the rank's
  // environment variables from their parent.
  [[nodiscard]] bool IsBesideAnother(ProcessIndex process,
                                     const std::map<ProcessIndex, DeviceIndex>& fullest) const {
    const auto rank = report::RankOf(run_, process);
    if (!rank.has_value()) return false;
    const auto peak = [&](ProcessIndex one) { return curves_[fullest.at(one)].peak().bytes; };
    return std::any_of(fullest.begin(), fullest.end(), [&](const auto& other) {
      return other.first != process && report::RankOf(run_, other.first) == rank &&
             std::pair(peak(other.first), process) > std::pair(peak(process), other.first);
    });
  }

  void FindModels() {
    std::vector<std::set<std::string_view>> names(run_.processes.size());
    for (size_t i = 0; i < run_.labels.size(); ++i) {
      const model::Label& label = run_.labels[i];
      if (label.role == trace::Role::kParameter && label.name != 0)
        names[run_.ProcessOf(run_.blocks[label.block])].insert(run_.Text(label.name));
    }
    for (const auto& of_process : names) models_.push_back(HashOf(of_process));
    const std::vector<std::vector<uint64_t>> states = OptimizerStates();
    for (ProcessIndex process = 0; process < models_.size(); ++process)
      if (models_[process].empty()) models_[process] = HashOf(states[process]);
  }

  // The sorted sizes of each process's optimizer state, for processes whose parameters have no names
  // (snapshots, LibTorch). Stages with different parameters have states of different sizes. A leak or a
  // longer batch does not change them.
  [[nodiscard]] std::vector<std::vector<uint64_t>> OptimizerStates() const {
    std::vector<std::vector<uint64_t>> sizes(run_.processes.size());
    std::vector<EventIndex> ends;
    for (ProcessIndex process = 0; process < sizes.size(); ++process)
      ends.push_back(growth::EndOfTraining(analysis_, process));
    for (const model::Block& block : run_.blocks) {
      const ProcessIndex process = run_.ProcessOf(block);
      if (!models_[process].empty() || !block.AliveAfter(ends[process])) continue;
      const timeline::Span& span = analysis_.training()[process].SpanAt(block.alloc_event);
      if (timeline::PhaseOf(span.part) == timeline::Phase::kOptimizer)
        sizes[process].push_back(block.Requested());
    }
    for (auto& of_process : sizes) std::sort(of_process.begin(), of_process.end());
    return sizes;
  }

  RankSummary Of(DeviceIndex device) {
    const DeviceCurve& curve = curves_[device];
    const model::Device& of = run_.devices[device];
    RankSummary rank;
    AddIdentity(device, rank);
    rank.peak_bytes = curve.peak().bytes;
    const timeline::Span& span = analysis_.training()[of.process].SpanAt(curve.peak().event);
    rank.peak_step = NumberOf(span.step, of.process);
    rank.peak_phase = timeline::PhaseOf(span.part);
    const EventIndex moments[] = {curve.peak().event};
    rank.categories = classify::UsageAt(run_, analysis_.categories(), curve, moments)[0];
    rank.last_bytes = curve.AllocatedAfter(model::kNever);
    rank.last_reserved_bytes = curve.ReservedAfter(model::kNever);
    AddReserved(curve, rank);
    AddDriver(device, rank);
    AddGrowth(curve, rank);
    AddEnding(device, rank);
    AddSteps(curve, rank);
    return rank;
  }

  void AddIdentity(DeviceIndex device, RankSummary& rank) const {
    const model::Device& of = run_.devices[device];
    const model::Launch launch = model::LaunchOf(run_.source->metadata(), of.process);
    rank.file = file_;
    rank.rank = report::RankOf(run_, of.process);
    rank.world_size = launch.world_size;
    rank.host = launch.host;
    rank.job = launch.job;
    rank.mesh = launch.mesh;
    if (const auto uuid = launch.gpu_uuids.find(trace::DeviceIndexOf(of.code));
        uuid != launch.gpu_uuids.end())
      rank.gpu_uuid = uuid->second;
    rank.device = of.name;
    rank.pid = run_.processes[of.process].info.pid;
    rank.part = static_cast<uint32_t>(Fact("recording.part"));
    // Ranks that ran one after the other on a simulated GPU have no common time.
    const bool alone = run_.source->metadata().contains("simulated.gpu") && run_.processes.size() == 1;
    rank.start_realtime_ns = alone ? 0 : run_.source->clock().start_realtime_ns;
    rank.last_ns = run_.times.last_ns();
    rank.counts_events = run_.counts_events();
    rank.model = models_[of.process];
  }

  // A number from the metadata; 0 if the key is missing.
  [[nodiscard]] uint64_t Fact(const std::string& key) const {
    const auto fact = run_.source->metadata().find(key);
    return fact == run_.source->metadata().end() ? 0 : std::strtoull(fact->second.c_str(), nullptr, 10);
  }

  // Converts a step's number in the file to its number in the run: the file may begin with a later step. 0 =
  // outside all steps.
  [[nodiscard]] uint32_t NumberOf(uint32_t step, ProcessIndex process) const {
    if (step == 0) return 0;
    return step + static_cast<uint32_t>(Fact("process." + std::to_string(process) + ".steps_before"));
  }

  void AddReserved(const DeviceCurve& curve, RankSummary& rank) const {
    rank.reserved_bytes = curve.peak_reserved();
    if (!rank.reserved_bytes.has_value()) return;
    for (const model::Since& since : curve.device().reserved) {
      if (static_cast<uint64_t>(since.value) != *rank.reserved_bytes) continue;
      // Find the highest allocated bytes while `reserved` has this value. The rest was not needed in this
      // time.
      const EventIndex end = EndOf(curve.device().reserved, since);
      const uint64_t allocated = curve.PeakWithin(since.event, std::max(end, since.event + 1)).bytes;
      const uint64_t unused = *rank.reserved_bytes > allocated ? *rank.reserved_bytes - allocated : 0;
      rank.unused_bytes = std::min(rank.unused_bytes.value_or(unused), unused);
    }
  }

  [[nodiscard]] EventIndex EndOf(const std::vector<model::Since>& all, const model::Since& since) const {
    const auto next = &since + 1;
    return next == all.data() + all.size() ? run_.event_count() : next->event;
  }

  void AddDriver(DeviceIndex device, RankSummary& rank) const {
    const model::Device& of = run_.devices[device];
    if (const model::DriverDevice* own = run_.driver.Find(of.process, of.code)) {
      if (!own->samples.empty()) {
        rank.used_bytes = own->peak_used();
        rank.last_used_bytes = own->UsedAfter(model::kNever);
        for (const model::DriverSample& sample : own->samples)
          rank.capacity_bytes = std::max(rank.capacity_bytes.value_or(0), sample.capacity);
      }
      const EventIndex at = curves_[device].peak().event;
      rank.outside_bytes = Outside(own->UseAfter(at, of.process));
    }
    for (const model::DriverDevice& other : run_.driver.devices) {
      if (other.code == of.code || trace::DeviceTypeOf(other.code) == 0) continue;
      if (std::find(other.processes.begin(), other.processes.end(), of.process) == other.processes.end())
        continue;
      const uint64_t bytes = All(other.UseAfter(other.peak_event(), of.process));
      if (bytes != 0) rank.elsewhere.push_back({model::DeviceName(other.code), bytes});
    }
    for (const DeviceIndex other : run_.processes[of.process].devices) {
      const model::Device& there = run_.devices[other];
      const bool known = std::any_of(rank.elsewhere.begin(), rank.elsewhere.end(),
                                     [&](const Elsewhere& one) { return one.device == there.name; });
      if (other == device || known || trace::DeviceTypeOf(there.code) == 0) continue;
      rank.elsewhere.push_back({there.name, curves_[other].peak().bytes});
    }
  }

  static uint64_t All(const model::DriverUse& use) {
    int64_t bytes = 0;
    for (const int64_t owner : use.owners) bytes += std::max<int64_t>(owner, 0);
    return static_cast<uint64_t>(bytes);
  }
  static uint64_t Outside(const model::DriverUse& use) {
    return All(use) - static_cast<uint64_t>(std::max<int64_t>(use.Of(model::DriverOwner::kPyTorch), 0));
  }

  void AddGrowth(const DeviceCurve& curve, RankSummary& rank) const {
    const EventIndex end = growth::EndOfTraining(analysis_, curve.device().process);
    const growth::Found found = growth::FindGrowth(analysis_, curve, end);
    for (const growth::Growth& leak : found.leaks)
      if (!leak.pinned_host) rank.growth_per_step += leak.bytes_per_step;
    if (found.leaks.empty()) return;
    const growth::Growth& largest = found.leaks.front();
    rank.growth_line = largest.line;
    rank.growth_module = largest.module;
    rank.growth_since = NumberOf(largest.first_step, curve.device().process);
  }

  void AddEnding(DeviceIndex device, RankSummary& rank) const {
    const ProcessIndex process = run_.devices[device].process;
    const timeline::Training& training = analysis_.training()[process];
    rank.ending_step = training.steps().empty() ? 0 : NumberOf(training.steps().back().number, process);
    report::Request request;
    request.pid = rank.pid;
    request.device = rank.device;
    const auto failure = report::ChooseFailure(run_, request, 0);
    const int32_t status = run_.processes[process].info.exit_status;
    if (failure.has_value() && failure->ended_its_process) {
      rank.ending = Ending::kOutOfMemory;
      rank.ending_text = "an allocation of " +
                         text::FormatBytes(run_.out_of_memory[failure->index].requested) + " on " +
                         rank.device + " failed";
      return;
    }
    if (status > 0) rank.ending_text = report::ExitText(status);
    if (status > 0 && (status & 0x7f) != 0)
      rank.ending = Ending::kKilled;
    else if (status > 0)
      rank.ending = Ending::kFailed;
    else if (status == 0)
      rank.ending = Ending::kFinished;
    else if (!run_.source->damage().closed_cleanly)
      rank.ending = Ending::kCutOff;
  }

  void AddSteps(const DeviceCurve& curve, RankSummary& rank) const {
    for (const timeline::Step& step : analysis_.training()[curve.device().process].steps()) {
      if (!step.complete || step.end <= step.begin) continue;
      const timeline::Peak peak = curve.PeakWithin(step.begin, step.end);
      rank.steps.push_back({NumberOf(step.number, curve.device().process), run_.times.TimeOf(step.begin),
                            run_.times.TimeOf(step.end - 1), peak.bytes,
                            curve.ReservedAfter(peak.event).value_or(0), curve.AllocatedAfter(step.end - 1)});
    }
  }

  const classify::Analysis& analysis_;
  const model::Run& run_;
  const std::string& file_;
  std::vector<DeviceCurve> curves_;
  std::vector<std::string> models_;  // by process
};

}  // namespace

std::vector<RankSummary> Summarize(const classify::Analysis& analysis, const std::string& file) {
  std::vector<RankSummary> ranks = RankSummarizer(analysis, file).All();
  if (ranks.size() == 1 && !ranks.front().rank.has_value() && ranks.front().part == 0) {
    ranks.front().rank = RankOfName(file);
    ranks.front().rank_from_name = ranks.front().rank.has_value();
  }
  return ranks;
}

}  // namespace vramscope::fleet
