// SPDX-License-Identifier: Apache-2.0
// The reverse search: the largest batch that fits, for the unchanged program and with cheap changes.
//
// Each row costs more than the row before (rank.h) and allows a larger batch. Doubling and bisection find the
// sizes, assuming that memory grows with the batch. Every size is a re-run.
//
// Example: recorded with 8 samples, 13 fit. The search tries 8, 16 (too large), 12, 14 (too large), 13.
#pragma once

#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/plan/reruns.h"

namespace vramscope::plan {

struct LargestBatch {
  Changes others;     // in addition to the batch
  uint64_t size = 0;  // samples; 0 = not even one sample fits
  Verdict verdict;    // with that batch
};

struct LargestBatches {
  uint64_t recorded = 0;           // samples of the recorded batch
  std::vector<LargestBatch> rows;  // the first row: nothing else changed
};

// `reruns`: nullptr if the recorded program cannot be run. The error is a sentence.
[[nodiscard]] Result<LargestBatches> FindLargestBatches(const whatif::Step& step, const Request& request,
                                                        Reruns* reruns);

}  // namespace vramscope::plan
