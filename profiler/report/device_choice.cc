// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/device_choice.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "profiler/model/launch.h"
#include "profiler/report/notes.h"
#include "profiler/text/number.h"

namespace vramscope::report {
namespace {

using model::DeviceIndex;
using model::ProcessIndex;
using model::Run;

bool IsGpu(const model::Device& device) { return trace::DeviceTypeOf(device.code) != 0; }

// The lowest code of a GPU that the process allocated on; 0xffff = none.
uint16_t FirstGpu(const Run& run, ProcessIndex process) {
  uint16_t first = 0xffff;
  for (const DeviceIndex device : run.processes[process].devices)
    if (IsGpu(run.devices[device])) first = std::min(first, run.devices[device].code);
  return first;
}

bool UsesGpu(const Run& run, ProcessIndex process) { return FirstGpu(run, process) != 0xffff; }

uint32_t PidOf(const Run& run, const model::Device& device) { return run.processes[device.process].info.pid; }

std::optional<uint32_t> Number(const Run& run, const std::string& key) {
  const auto found = run.source->metadata().find(key);
  if (found == run.source->metadata().end()) return std::nullopt;
  return text::ParseNumber<uint32_t>(found->second);
}

std::optional<uint32_t> RecordedRank(const Run& run, ProcessIndex process) {
  return model::LaunchOf(run.source->metadata(), process).rank;
}

bool AnyRankRecorded(const Run& run) {
  for (ProcessIndex process = 0; process < run.processes.size(); ++process)
    if (RecordedRank(run, process).has_value()) return true;
  return false;
}

bool Matches(const Run& run, const model::Device& device, const Request& request) {
  return device.name == request.device.value_or(device.name) &&
         PidOf(run, device) == request.pid.value_or(PidOf(run, device)) &&
         (!request.rank.has_value() || RankOf(run, device.process) == request.rank);
}

bool IsNamed(const Request& request) {
  return request.device.has_value() || request.pid.has_value() || request.rank.has_value();
}

// "rank 0 (process 100), cuda:0; rank 1 (process 101), cuda:1", the first few.
std::string DeviceList(const Run& run) {
  constexpr size_t kMost = 8;
  std::string list;
  for (DeviceIndex i = 0; i < run.devices.size() && i < kMost; ++i)
    list += (i > 0 ? "; " : "") + SpokenOf(run, i).text;
  return run.devices.size() > kMost ? list + "; ..." : list;
}

Error NoSuchDevice(const Run& run, const Request& request) {
  std::string whose;
  if (request.pid.has_value()) whose += " of process " + std::to_string(*request.pid);
  if (request.rank.has_value()) whose += " of rank " + std::to_string(*request.rank);
  if (run.devices.empty())
    return NothingAllocated(run, "there is no " + request.device.value_or("device") + whose + " to report");
  return Error{"this run has no allocations on " + request.device.value_or("a device") + whose + "; it has " +
               DeviceList(run) + "."};
}

// True if the process ran a backward pass or an optimizer.
bool Trains(const Run& run, ProcessIndex process) {
  const std::vector<uint32_t>& ranges = run.processes[process].ranges;
  return std::any_of(ranges.begin(), ranges.end(), [&](uint32_t index) {
    const trace::RangeKind kind = run.ranges[index].kind;
    return kind == trace::RangeKind::kBackward || kind == trace::RangeKind::kOptimizer;
  });
}

// --- failures

ProcessIndex ProcessOf(const Run& run, const model::OutOfMemory& failure) {
  return run.threads[failure.thread].process;
}

DeviceIndex DeviceOf(const Run& run, const model::OutOfMemory& failure) {
  for (const DeviceIndex device : run.processes[ProcessOf(run, failure)].devices)
    if (run.devices[device].code == failure.device_code) return device;
  return model::kNone;
}

bool FinishedAStepAfter(const Run& run, ProcessIndex process, model::EventIndex event) {
  return std::any_of(run.marks.begin(), run.marks.end(), [&](const model::Mark& mark) {
    return mark.event > event && mark.kind == trace::MarkKind::kOptimizerStepDone &&
           run.threads[mark.thread].process == process;
  });
}

// False if the program survived the failure because it handles it, for example by halving its batch.
bool EndedItsProcess(const Run& run, size_t index) {
  const model::OutOfMemory& failure = run.out_of_memory[index];
  const ProcessIndex process = ProcessOf(run, failure);
  if (run.processes[process].info.exit_status == 0) return false;
  const bool last =
      std::none_of(run.out_of_memory.begin() + static_cast<ptrdiff_t>(index) + 1, run.out_of_memory.end(),
                   [&](const model::OutOfMemory& later) { return ProcessOf(run, later) == process; });
  return last && !FinishedAStepAfter(run, process, failure.event);
}

// The first failure that ended its process, among those on a device that matches; kNone: there is none.
DeviceIndex DeviceOfTheEnd(const Run& run, const Request& request) {
  for (size_t i = 0; i < run.out_of_memory.size(); ++i) {
    const DeviceIndex device = DeviceOf(run, run.out_of_memory[i]);
    if (device != model::kNone && Matches(run, run.devices[device], request) && EndedItsProcess(run, i))
      return device;
  }
  return model::kNone;
}

bool AsksForFailure(const Request& request) {
  return std::any_of(request.at.begin(), request.at.end(),
                     [](const MomentSpec& moment) { return moment.kind == MomentSpec::Kind::kOutOfMemory; });
}

}  // namespace

std::vector<timeline::DeviceCurve> CurvesOf(const Run& run) {
  std::vector<timeline::DeviceCurve> curves;
  curves.reserve(run.devices.size());
  for (DeviceIndex device = 0; device < run.devices.size(); ++device) curves.emplace_back(run, device);
  return curves;
}

std::optional<uint32_t> RankOf(const Run& run, ProcessIndex process) {
  if (AnyRankRecorded(run)) return RecordedRank(run, process);
  if (!UsesGpu(run, process)) return std::nullopt;
  // Launchers give GPU 1 to rank 1, and the processes start in any order.
  const auto place = [&](ProcessIndex one) { return std::pair(FirstGpu(run, one), one); };
  uint32_t rank = 0;
  uint32_t all = 0;
  for (ProcessIndex other = 0; other < run.processes.size(); ++other) {
    if (!UsesGpu(run, other)) continue;
    rank += place(other) < place(process) ? 1 : 0;
    ++all;
  }
  if (all > 1) return rank;
  return Number(run, "env.RANK");  // vramscope itself was started once per rank
}

Result<DeviceIndex> ChooseDevice(const Run& run, const std::vector<timeline::DeviceCurve>& curves,
                                 const Request& request) {
  if (AsksForFailure(request)) {
    if (const auto failure = ChooseFailure(run, request, 0)) return failure->device;
  }
  if (const DeviceIndex end = DeviceOfTheEnd(run, request); end != model::kNone) return end;
  DeviceIndex best = model::kNone;
  const auto rank = [&](DeviceIndex device) {
    const bool is_gpu = IsGpu(run.devices[device]);
    // On a CPU, a data loader's worker may hold more than the training process, depending on who is ahead.
    const bool concerns = is_gpu || Trains(run, run.devices[device].process);
    return std::tuple(is_gpu, concerns, curves[device].peak().bytes);
  };
  for (DeviceIndex device = 0; device < curves.size(); ++device) {
    if (!Matches(run, run.devices[device], request)) continue;
    if (best == model::kNone || rank(device) > rank(best)) best = device;
  }
  if (best == model::kNone && IsNamed(request)) return NoSuchDevice(run, request);
  return best;
}

Result<std::vector<DeviceIndex>> ChooseDevices(const Run& run,
                                               const std::vector<timeline::DeviceCurve>& curves,
                                               const Request& request) {
  const DeviceIndex best = VRAMSCOPE_TRY(ChooseDevice(run, curves, request));
  std::vector<DeviceIndex> devices;
  if (best == model::kNone) return devices;
  const bool gpu = IsGpu(run.devices[best]);
  const bool trains = Trains(run, run.devices[best].process);
  for (DeviceIndex device = 0; device < run.devices.size(); ++device) {
    if (!Matches(run, run.devices[device], request) || IsGpu(run.devices[device]) != gpu) continue;
    if (gpu || Trains(run, run.devices[device].process) == trains) devices.push_back(device);
  }
  const auto order = [&](DeviceIndex device) {
    const model::Device& of = run.devices[device];
    return std::tuple(RankOf(run, of.process), of.process, of.code);
  };
  std::stable_sort(devices.begin(), devices.end(),
                   [&](DeviceIndex a, DeviceIndex b) { return order(a) < order(b); });
  return devices;
}

Spoken SpokenOf(const Run& run, DeviceIndex device, const std::vector<DeviceIndex>& meant) {
  const model::Device& of = run.devices[device];
  Spoken spoken;
  spoken.device = of.name;
  spoken.pid = PidOf(run, of);
  spoken.rank = RankOf(run, of.process);
  spoken.others = meant.empty() ? 0 : static_cast<uint32_t>(meant.size() - 1);
  const std::string process = "process " + std::to_string(spoken.pid);
  model::Launch launch = model::LaunchOf(run.source->metadata(), of.process);
  launch.rank = spoken.rank;
  if (spoken.rank.has_value())
    spoken.text = model::RankText(launch) + " (" + process + "), " + of.name;
  else
    spoken.text = run.processes.size() > 1 ? process + ", " + of.name : of.name;
  return spoken;
}

std::optional<ChosenFailure> ChooseFailure(const Run& run, const Request& request, size_t number) {
  std::optional<ChosenFailure> chosen;
  bool decided = false;
  size_t all = 0;
  for (size_t i = 0; i < run.out_of_memory.size(); ++i) {
    const DeviceIndex device = DeviceOf(run, run.out_of_memory[i]);
    if (device == model::kNone || !Matches(run, run.devices[device], request)) continue;
    ++all;
    const bool wanted = number == 0 ? !decided : all == number;
    if (!wanted) continue;
    decided = EndedItsProcess(run, i);
    chosen = ChosenFailure{i, device, all, 0, 0, decided};
  }
  if (!chosen.has_value()) return chosen;
  chosen->all = all;
  chosen->number_on_device = static_cast<size_t>(std::count_if(
      run.out_of_memory.begin(), run.out_of_memory.begin() + static_cast<ptrdiff_t>(chosen->index) + 1,
      [&](const model::OutOfMemory& failure) { return DeviceOf(run, failure) == chosen->device; }));
  return chosen;
}

Error NothingAllocated(const Run& run, std::string_view so) {
  std::string sentence = "nothing was allocated in this run";
  if (!so.empty()) sentence.append(", so ").append(so);
  sentence += ".";
  if (const std::string why = CachingOff(run.source->metadata()); !why.empty()) sentence += " " + why;
  return Error{std::move(sentence)};
}

}  // namespace vramscope::report
