// SPDX-License-Identifier: Apache-2.0
// Finishes the driver level: processes that have ended give back what they held, and each device's changes
// are merged in order with the driver's figures.
#include <algorithm>

#include "profiler/model/driver_loader.h"
#include "profiler/model/run.h"

namespace vramscope::model {

DriverLevel DriverLoader::Finish(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times,
                                 Anomalies& anomalies) && {
  if (rows_.empty() && samples_.empty() && level_.calls == 0) return {};
  EndProcesses(processes, times);
  BuildDevices(anomalies);
  return std::move(level_);
}

// When a process ends, the driver takes back what it has not freed, and no event reports this. Memory shared
// with a process that lives on stays with that process. It is unknown here and shows as unattributed.
void DriverLoader::EndProcesses(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times) {
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

  std::vector<int64_t> held(rows_.size());
  for (const DriverChange& change : changes_) held[change.row] += change.bytes;
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    const EventIndex end = end_of(rows_[row].row.process);
    if (end != kNever && held[row] != 0) endings_.push_back({end, row, -held[row]});
  }
  std::stable_sort(endings_.begin(), endings_.end(),
                   [](const DriverChange& a, const DriverChange& b) { return a.event < b.event; });
}

// All changes and samples of a device in event order; samples come after the changes of the same event.
template <typename OnChange, typename OnSample>
void DriverLoader::Replay(uint16_t code, const OnChange& on_change, const OnSample& on_sample) const {
  size_t change = 0;
  size_t ending = 0;
  size_t sample = 0;
  const auto changes_until = [&](EventIndex event) {
    while (true) {
      const bool more = change < changes_.size() && changes_[change].event <= event;
      const bool more_endings = ending < endings_.size() && endings_[ending].event <= event;
      if (!more && !more_endings) return;
      const bool from_endings = more_endings && (!more || endings_[ending].event < changes_[change].event);
      const DriverChange& next = from_endings ? endings_[ending++] : changes_[change++];
      if (rows_[next.row].code == code) on_change(next);
    }
  };
  for (; sample < samples_.size(); ++sample) {
    if (samples_[sample].code != code) continue;
    changes_until(samples_[sample].sample.event);
    on_sample(samples_[sample].sample);
  }
  changes_until(kNever);
}

// Two processes may each call a different GPU "cuda:0" (CUDA_VISIBLE_DEVICES), and the calls do not show it.
// They are on different devices if the driver counts less memory than both hold together, but not less than
// the process that asked holds.
bool DriverLoader::SharesDevice(uint16_t code) const {
  std::vector<int64_t> held(processes_.size());
  int64_t all = 0;
  bool shares = true;
  Replay(
      code,
      [&](const DriverChange& change) {
        const ProcessIndex process = rows_[change.row].row.process;
        if (process != kNone) held[process] += change.bytes;
        all += change.bytes;
      },
      [&](const DriverSample& sample) {
        const auto used = static_cast<int64_t>(sample.used);
        if (used < all && used >= held[sample.process]) shares = false;
      });
  return shares;
}

void DriverLoader::BuildDevices(Anomalies& anomalies) {
  std::map<uint16_t, std::vector<ProcessIndex>> users;
  for (ProcessIndex process = 0; process < processes_.size(); ++process) {
    for (const ProcessDevice& device : processes_[process].devices) users[device.code].push_back(process);
  }
  for (const auto& [code, processes] : users) {
    if (processes.size() == 1 || SharesDevice(code)) {
      BuildDevice(code, processes, anomalies);
      continue;
    }
    for (const ProcessIndex process : processes) BuildDevice(code, {process}, anomalies);
  }
}

void DriverLoader::BuildDevice(uint16_t code, std::vector<ProcessIndex> processes, Anomalies& anomalies) {
  DriverDevice device(code, std::move(processes));
  const auto is_of = [&](ProcessIndex process) {
    return process == kNone || std::binary_search(device.processes.begin(), device.processes.end(), process);
  };
  Replay(
      code,
      [&](const DriverChange& change) {
        const DriverDevice::Row& row = rows_[change.row].row;
        if (is_of(row.process)) device.AddChange({change.event, device.FindRow(row), change.bytes});
      },
      [&](const DriverSample& sample) {
        if (is_of(sample.process)) device.AddSample(sample);
      });
  anomalies.driver_mismatches += device.mismatches();
  anomalies.driver_below_rows += device.below_rows();
  level_.devices.push_back(std::move(device));
}

}  // namespace vramscope::model
