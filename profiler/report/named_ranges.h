// SPDX-License-Identifier: Apache-2.0
// Sums up the program's NVTX ranges by name: count, duration and memory. A name such as "forward" may have
// thousands of ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/timeline/curve.h"

namespace vramscope::report {

struct NamedRange {
  std::string name;         // "domain:message"
  uint64_t times = 0;       // number of ranges with that name
  uint64_t total_ns = 0;    // sum of the durations; nested ranges are counted separately
  uint64_t peak_bytes = 0;  // highest allocated bytes inside one of the ranges
  int64_t most_growth = 0;  // largest increase of allocated bytes from begin to end of one range
};

// Returns the ranges of the process that owns the curve's device, on all its threads. Highest peak first, at
// most `top` (0 = all). A range without an end lasts to the end of the trace. O(log n) per range.
[[nodiscard]] std::vector<NamedRange> FindNamedRanges(const model::Run& run,
                                                      const timeline::DeviceCurve& curve, size_t top);

}  // namespace vramscope::report
