// SPDX-License-Identifier: Apache-2.0
// Converts the pinned host memory of a recorded process to the host_traces and host_segments of a snapshot.
// Each allocation by a driver call becomes a segment with one block.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/snapshot/snapshot.h"
#include "trace_format/event.h"

namespace vramscope::snapshot {

class HostHistory {
 public:
  // Adds a driver_alloc or driver_free event. Ignores events of other memory than pinned host memory.
  void Take(const trace::Event& event, uint64_t time_us);
  // Appends the collected events to the snapshot's host history.
  void MoveTo(Snapshot* snapshot);

 private:
  std::vector<Event> events_;
  std::map<uint64_t, uint64_t> held_;  // address -> bytes
};

}  // namespace vramscope::snapshot
