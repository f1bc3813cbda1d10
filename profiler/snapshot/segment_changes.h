// SPDX-License-Identifier: Apache-2.0
// When a process's caching allocator took memory from the driver and gave it back, as in PyTorch's history.
//
//   driver:   map 0x1000 (2 MiB), map 0x3000 (2 MiB)
//   history:  segment_map 0x1000 (4 MiB), one for each request
#pragma once

#include <vector>

#include "profiler/model/run.h"

namespace vramscope::snapshot {

struct SegmentChange {
  model::EventIndex at = 0;  // in the trace: the driver call
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t stack = 0;  // in the trace
  uint16_t device_code = 0;
  bool came = false;    // true: taken from the driver; false: given back
  bool mapped = false;  // pages of an expandable segment
};

// In order; empty without recorded driver calls. Consecutive pages without an allocation in between form one
// change.
[[nodiscard]] std::vector<SegmentChange> SegmentChangesOf(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::snapshot
