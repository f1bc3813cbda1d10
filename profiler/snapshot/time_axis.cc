// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/time_axis.h"

#include <algorithm>

namespace vramscope::snapshot {

TimeAxis::TimeAxis(const Snapshot& snapshot) {
  const auto note = [&](const std::vector<EventRange>& ranges) {
    for (const EventRange& range : ranges)
      start_us_ = std::min(start_us_, snapshot.events[range.first].time_us);
  };
  uint64_t events = 0;
  for (size_t device = 0; device < snapshot.device_traces.size(); ++device) {
    note(snapshot.device_traces[device]);
    events_before_.push_back(events);
    events += snapshot.event_count(device);
  }
  note(snapshot.host_trace);
}

uint64_t TimeAxis::TimeOf(uint64_t time_us) const {
  if (time_us == kUnknown || start_us_ == kUnknown || time_us <= start_us_) return 0;
  return (time_us - start_us_) * 1000;
}

uint64_t TimeAxis::TimeOf(const Event& event, uint32_t device, uint32_t number) const {
  return counts_events() ? events_before_[device] + number + 1 : TimeOf(event.time_us);
}

}  // namespace vramscope::snapshot
