// SPDX-License-Identifier: Apache-2.0
// Lists when a process's caching allocator took memory from the driver and gave it back. One change
// corresponds to one segment event in PyTorch's own memory history.
//
//   driver:   map 0x1000 (2 MiB), map 0x3000 (2 MiB)
//   history:  segment_map 0x1000 (4 MiB): one event for one request of the program
#pragma once

#include <vector>

#include "profiler/model/run.h"

namespace vramscope::snapshot {

struct SegmentChange {
  model::EventIndex at = 0;  // event of the driver call
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t stack = 0;  // stack id in the trace
  uint16_t device_code = 0;
  bool came = false;    // true: taken from the driver; false: given back
  bool mapped = false;  // true: pages of an expandable segment
};

// Returns the changes in order of time. Returns an empty list if no driver calls were recorded. Adjacent
// pages form one change, if no block was allocated between their driver calls.
[[nodiscard]] std::vector<SegmentChange> SegmentChangesOf(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::snapshot
