// SPDX-License-Identifier: Apache-2.0
// Computes the time of each event of a snapshot, on one time axis for all devices.
//
// Snapshots of PyTorch before 2.2 have no times. The time of an event is then its number, counted over all
// devices: time 7 is the seventh event.
//
//                     device 0         device 1        time axis
//   with times        0 us, 3 us       1,000,000 us    nanoseconds since the earliest event
//   without times     events 1 and 2   event 3         number of the event
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

class TimeAxis {
 public:
  explicit TimeAxis(const Snapshot& snapshot);

  // True if the snapshot has no times.
  [[nodiscard]] bool counts_events() const { return start_us_ == kUnknown; }
  [[nodiscard]] uint64_t start_us() const { return start_us_; }  // time since 1970; kUnknown without times
  // Converts a time of the file to nanoseconds since start_us(). Returns 0 for unknown and for earlier times.
  [[nodiscard]] uint64_t TimeOf(uint64_t time_us) const;
  // Returns the time of event `number` (0-based) of a device.
  [[nodiscard]] uint64_t TimeOf(const Event& event, uint32_t device, uint32_t number) const;

 private:
  uint64_t start_us_ = kUnknown;
  std::vector<uint64_t> events_before_;  // for each device: number of events of all devices before it
};

}  // namespace vramscope::snapshot
