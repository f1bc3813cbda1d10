// SPDX-License-Identifier: Apache-2.0
// The common clock of a snapshot: the times of its events, for all its devices.
//
// Files from before PyTorch 2.2 have no times. There an event's time is its number over all devices: time 7
// is the seventh event.
//
//   with times      device 0: 0 us, 3 us     device 1: 1,000,000 us      nanoseconds since the first of them
//   without         device 0: 1, 2           device 1: 3
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

class TimeAxis {
 public:
  explicit TimeAxis(const Snapshot& snapshot);

  [[nodiscard]] bool counts_events() const { return start_us_ == kUnknown; }
  [[nodiscard]] uint64_t start_us() const { return start_us_; }  // since 1970; kUnknown without times
  // Converts a time of the file to nanoseconds since the start. Unknown or earlier times are at the start.
  [[nodiscard]] uint64_t TimeOf(uint64_t time_us) const;
  // Time of event `number` (0-based) of a device.
  [[nodiscard]] uint64_t TimeOf(const Event& event, uint32_t device, uint32_t number) const;

 private:
  uint64_t start_us_ = kUnknown;
  std::vector<uint64_t> events_before_;  // by device: number of events of the devices before it
};

}  // namespace vramscope::snapshot
