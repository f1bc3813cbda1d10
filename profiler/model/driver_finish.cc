// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/driver_finish.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace vramscope::model {
namespace {

class Finisher {
 public:
  Finisher(DriverLevel& level, const DriverCounts& counts) : level_(level), counts_(counts) {}

  void EndProcesses(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times);
  void BuildDevices(Anomalies& anomalies);

 private:
  template <typename OnChange, typename OnSample>
  void Replay(const OnChange& on_change, const OnSample& on_sample) const;
  [[nodiscard]] std::vector<uint16_t> CodesOfSeveralDevices() const;

  DriverLevel& level_;
  const DriverCounts& counts_;
  std::vector<DriverChange> endings_;  // what processes still held when they ended
};

// When a process ends, the driver takes back what it has not freed, and no event reports this. Memory shared
// with a process that lives on stays with that process. It is unknown here and shows as unattributed.
void Finisher::EndProcesses(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times) {
  std::vector<EventIndex> ends(processes.size(), kNever);
  for (ProcessIndex i = 0; i < processes.size(); ++i) {
    if (processes[i].end_ns == 0) continue;
    const EventIndex last = times.LastEventAt(processes[i].end_ns);
    const EventIndex next = last == kNever ? 0 : last + 1;
    if (next < times.size()) ends[i] = next;
  }
  const auto end_of = [&](ProcessIndex process) { return process < ends.size() ? ends[process] : kNever; };
  const auto finish = [&](auto& thing) {
    const EventIndex end = end_of(thing.process);
    if (thing.end == kNever && end != kNever) thing.end = std::max(end, thing.begin);
  };
  for (size_t i = 0; i < level_.allocations.size(); ++i) finish(level_.allocations[i]);
  for (Segment& segment : level_.segments) finish(segment);
  for (PinnedMemory& pinned : level_.pinned) {
    const EventIndex end = end_of(pinned.process);
    if (end == kNever) continue;
    if (pinned.bytes.back().event <= end) pinned.bytes.push_back({end, 0});
    if (!pinned.by_pytorch.empty() && pinned.by_pytorch.back().event <= end)
      pinned.by_pytorch.push_back({end, 0});
  }

  const auto& rows = counts_.rows();
  std::vector<int64_t> held(rows.size());
  for (const DriverChange& change : counts_.changes()) held[change.row] += change.bytes;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    const EventIndex end = end_of(rows[row].row.process);
    if (end != kNever && held[row] != 0) endings_.push_back({end, row, -held[row]});
  }
  std::stable_sort(endings_.begin(), endings_.end(),
                   [](const DriverChange& a, const DriverChange& b) { return a.event < b.event; });
}

// All changes and samples in event order; samples come after the changes of the same event.
template <typename OnChange, typename OnSample>
void Finisher::Replay(const OnChange& on_change, const OnSample& on_sample) const {
  const auto& changes = counts_.changes();
  size_t change = 0;
  size_t ending = 0;
  const auto changes_until = [&](EventIndex event) {
    while (true) {
      const bool more = change < changes.size() && changes[change].event <= event;
      const bool more_endings = ending < endings_.size() && endings_[ending].event <= event;
      if (!more && !more_endings) return;
      const bool from_endings = more_endings && (!more || endings_[ending].event < changes[change].event);
      const DriverChange& next = from_endings ? endings_[ending++] : changes[change++];
      on_change(counts_.rows()[next.row], next);
    }
  };
  for (const DriverCounts::Sample& sample : counts_.samples()) {
    changes_until(sample.sample.event);
    on_sample(sample.code, sample.sample);
  }
  changes_until(kNever);
}

// Two processes may each call a different GPU "cuda:0" (CUDA_VISIBLE_DEVICES), and the calls do not show it.
// They are on different devices if the driver counts less memory than both hold together, but not less than
// the process that asked the driver holds.
std::vector<uint16_t> Finisher::CodesOfSeveralDevices() const {
  struct Held {
    std::unordered_map<ProcessIndex, int64_t> by_process;
    int64_t all = 0;
    bool several = false;
  };
  std::map<uint16_t, Held> devices;
  Replay(
      [&](const DriverCounts::Row& row, const DriverChange& change) {
        Held& held = devices[row.code];
        if (row.row.process != kNone) held.by_process[row.row.process] += change.bytes;
        held.all += change.bytes;
      },
      [&](uint16_t code, const DriverSample& sample) {
        Held& held = devices[code];
        const auto used = static_cast<int64_t>(sample.used);
        if (used < held.all && used >= held.by_process[sample.process]) held.several = true;
      });
  std::vector<uint16_t> codes;
  for (const auto& [code, held] : devices) {
    if (held.several) codes.push_back(code);
  }
  return codes;
}

// One pass for all devices: a damaged file may name 256 devices per process.
void Finisher::BuildDevices(Anomalies& anomalies) {
  const std::vector<uint16_t> several = CodesOfSeveralDevices();
  std::map<uint16_t, std::vector<DriverDevice>> devices;
  for (const auto& [code, processes] : counts_.UsersOfDevices()) {
    std::vector<DriverDevice>& of_code = devices[code];
    if (!std::binary_search(several.begin(), several.end(), code)) {
      of_code.emplace_back(code, processes);
      continue;
    }
    for (const ProcessIndex process : processes) of_code.push_back({code, {process}});
  }
  const auto for_each = [&](uint16_t code, ProcessIndex process, const auto& visit) {
    const auto of_code = devices.find(code);
    if (of_code == devices.end()) return;
    for (DriverDevice& device : of_code->second) {
      if (process == kNone || std::binary_search(device.processes.begin(), device.processes.end(), process))
        visit(device);
    }
  };
  Replay(
      [&](const DriverCounts::Row& row, const DriverChange& change) {
        for_each(row.code, row.row.process, [&](DriverDevice& device) {
          device.AddChange({change.event, device.FindRow(row.row), change.bytes});
        });
      },
      [&](uint16_t code, const DriverSample& sample) {
        for_each(code, sample.process, [&](DriverDevice& device) { device.AddSample(sample); });
      });
  for (auto& [code, of_code] : devices) {
    for (DriverDevice& device : of_code) {
      anomalies.driver_mismatches += device.mismatches();
      anomalies.driver_below_rows += device.below_rows();
      level_.devices.push_back(std::move(device));
    }
  }
}

}  // namespace

DriverLevel FinishDriverLevel(DriverLevel level, DriverCounts counts,
                              const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times,
                              Anomalies& anomalies) {
  if (counts.rows().empty() && counts.samples().empty() && level.calls == 0) return {};
  level.pinned = std::move(counts).TakePinned();
  Finisher finisher(level, counts);
  finisher.EndProcesses(processes, times);
  finisher.BuildDevices(anomalies);
  return level;
}

}  // namespace vramscope::model
