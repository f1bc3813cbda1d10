// SPDX-License-Identifier: Apache-2.0
// Compares the total that an allocator reports for a device with the recorded blocks of the device.
//
// The difference is called unseen: memory whose allocation was not recorded, because recording began late or
// a hook was missed.
//
//   event     our sum   reported   unseen
//   alloc 4      4         4          0
//   alloc 2      6        16         10    accepted after 16 reports in a row with this difference
#pragma once

#include <vector>

#include "profiler/model/run.h"

namespace vramscope::model {

class DeviceTotals {
 public:
  // Adds reserved and unseen bytes of each device to `run`.
  explicit DeviceTotals(Run& run) : run_(run) {}

  // Call for each device of the run, in order.
  void AddDevice() { devices_.emplace_back(); }
  // Call when a block is allocated or freed. The totals are the values that the allocator reported; 0 = no
  // report.
  void NoteAlloc(DeviceIndex device, uint64_t bytes, uint64_t total_allocated, uint64_t total_reserved,
                 EventIndex now);
  void NoteFree(DeviceIndex device, uint64_t total_allocated, uint64_t total_reserved, EventIndex now);
  void Subtract(DeviceIndex device, uint64_t bytes) { devices_[device].allocated -= bytes; }
  // Call when the allocator takes or returns a segment.
  void NoteSegment(const SegmentChange& change);

 private:
  struct State {
    uint64_t allocated = 0;  // sum of the live blocks
    int64_t unseen = 0;
    int64_t unseen_candidate = 0;
    uint32_t candidate_streak = 0;
    bool reports_totals = false;
    uint64_t reserved = 0;
  };

  void Check(DeviceIndex device, bool allocation, uint64_t total_allocated, uint64_t total_reserved,
             EventIndex now);

  Run& run_;
  std::vector<State> devices_;
};

}  // namespace vramscope::model
