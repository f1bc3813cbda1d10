// SPDX-License-Identifier: Apache-2.0
// The program's own NVTX ranges by name: how often each name ran, for how long, and its memory.
//
// Why by name: a name such as "forward" or "NCCL:ncclAllReduce" stands for thousands of ranges. The question
// is which named part of the program makes memory grow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/timeline/curve.h"

namespace vramscope::report {

struct NamedRange {
  std::string name;         // "domain:message"
  uint64_t times = 0;       // number of ranges with that name
  uint64_t total_ns = 0;    // sum over all of them; nested ranges each count
  uint64_t peak_bytes = 0;  // the most allocated bytes inside one of the ranges
  int64_t most_growth = 0;  // the largest increase of allocated bytes from begin to end of one range
};

// Ranges of the process that owns the curve's device, on any thread. Highest peak first, at most `top` (0 =
// all). A range without a recorded end lasts to the trace's end. O(log n) per range.
[[nodiscard]] std::vector<NamedRange> FindNamedRanges(const model::Run& run,
                                                      const timeline::DeviceCurve& curve, size_t top);

}  // namespace vramscope::report
