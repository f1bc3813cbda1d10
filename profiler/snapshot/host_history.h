// SPDX-License-Identifier: Apache-2.0
// Pinned host memory of a recorded process as the host_traces and host_segments of a snapshot: each call of
// the driver is a segment with one block.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/snapshot/snapshot.h"
#include "trace_format/event.h"

namespace vramscope::snapshot {

class HostHistory {
 public:
  // A driver_alloc or driver_free; those of other memory are left out.
  void Take(const trace::Event& event, uint64_t time_us);
  // What was taken, behind the other events.
  void MoveTo(Snapshot* snapshot);

 private:
  std::vector<Event> events_;
  std::map<uint64_t, uint64_t> held_;  // bytes by address
};

}  // namespace vramscope::snapshot
