// SPDX-License-Identifier: Apache-2.0
// Converts pinned host memory of a recorded process to the host_traces and host_segments of a snapshot. Each
// driver call is a segment with one block.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/snapshot/snapshot.h"
#include "trace_format/event.h"

namespace vramscope::snapshot {

class HostHistory {
 public:
  // Takes a driver_alloc or driver_free; ignores those of other memory.
  void Take(const trace::Event& event, uint64_t time_us);
  // Appends the collected events after the other events.
  void MoveTo(Snapshot* snapshot);

 private:
  std::vector<Event> events_;
  std::map<uint64_t, uint64_t> held_;  // bytes by address
};

}  // namespace vramscope::snapshot
