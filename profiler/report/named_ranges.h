// SPDX-License-Identifier: Apache-2.0
// The program's own NVTX ranges by name: count, duration and memory.
//
// A name such as "forward" stands for thousands of ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/timeline/curve.h"

namespace vramscope::report {

struct NamedRange {
  std::string name;         // "domain:message"
  uint64_t times = 0;       // number of ranges with that name
  uint64_t total_ns = 0;    // sum of all; nested ranges each count
  uint64_t peak_bytes = 0;  // most allocated bytes inside one range
  int64_t most_growth = 0;  // largest increase of allocated bytes, begin to end of one range
};

// Ranges on any thread of the process that owns the curve's device. Highest peak first, at most `top` (0 =
// all). A range without an end lasts to the trace's end. O(log n) per range.
[[nodiscard]] std::vector<NamedRange> FindNamedRanges(const model::Run& run,
                                                      const timeline::DeviceCurve& curve, size_t top);

}  // namespace vramscope::report
