// SPDX-License-Identifier: Apache-2.0
// Finds the largest batch size that fits into a memory limit, for the unchanged program and with cheap
// additional changes.
//
// In the result, each row costs more than the previous row (rank.h), and allows a larger batch. The sizes are
// found by doubling and bisection, under the assumption that memory grows with the batch size. Every tried
// size is a re-run.
//
// Example: the recorded batch has 8 samples, and at most 13 samples fit. The search tries 8, 16 (too large),
// 12, 14 (too large), 13.
#pragma once

#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/plan/reruns.h"

namespace vramscope::plan {

struct LargestBatch {
  Changes others;     // changes in addition to the batch size
  uint64_t size = 0;  // number of samples; 0 = even one sample does not fit
  Verdict verdict;    // memory and cost with this batch size
};

struct LargestBatches {
  uint64_t recorded = 0;           // number of samples in the recorded batch
  std::vector<LargestBatch> rows;  // the first row changes only the batch size
};

// `reruns` is nullptr if the recorded program cannot be re-run; then the result is an error. The error is a
// sentence.
[[nodiscard]] Result<LargestBatches> FindLargestBatches(const whatif::Step& step, const Request& request,
                                                        Reruns* reruns);

}  // namespace vramscope::plan
