// SPDX-License-Identifier: Apache-2.0
// What the program's own NVTX ranges held: for each name how often it ran, how long, and the memory of it.
//
// Why by name: a name such as "forward" or "NCCL:ncclAllReduce" stands for thousands of ranges, and the
// question is which of the things that the program itself has named makes memory grow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/timeline/curve.h"

namespace vramscope::report {

struct NamedRange {
  std::string name;         // "domain:message"
  uint64_t times = 0;       // ranges of that name
  uint64_t total_ns = 0;    // of all of them; ranges inside each other count each
  uint64_t peak_bytes = 0;  // the most that was allocated inside one of them
  int64_t most_growth = 0;  // the largest difference of allocated bytes from begin to end of one
};

// Of the process whose device the curve is of, on any thread; the highest peak first, at most `top` (0 =
// all). A range that did not end within the trace lasts to the trace's end. O(log n) a range.
[[nodiscard]] std::vector<NamedRange> FindNamedRanges(const model::Run& run,
                                                      const timeline::DeviceCurve& curve, size_t top);

}  // namespace vramscope::report
