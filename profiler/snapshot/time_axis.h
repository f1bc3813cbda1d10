// SPDX-License-Identifier: Apache-2.0
// The one clock of a snapshot: when its events were, for all its devices.
//
// Why its own class: every view must place an event of one device at the same moment, also when another
// device began earlier. Files from before PyTorch 2.2 have no times. There an event's number is its moment,
// counted over all devices: what is called 7 is the seventh event.
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
  // Of a time of the file: since the start; what is unknown or earlier is at the start.
  [[nodiscard]] uint64_t TimeOf(uint64_t time_us) const;
  // Of event `number`, from 0, of a device.
  [[nodiscard]] uint64_t TimeOf(const Event& event, uint32_t device, uint32_t number) const;

 private:
  uint64_t start_us_ = kUnknown;
  std::vector<uint64_t> events_before_;  // by device: of the devices in front of it
};

}  // namespace vramscope::snapshot
