// SPDX-License-Identifier: Apache-2.0
// The search the other way round: the largest batch that fits, as the program is and with cheap changes.
//
// Each row costs more than the one before it (rank.h) and allows a larger batch; what costs more for nothing
// is left out. Sizes are found by doubling and halving: memory is taken to grow with the batch. Every size is
// a re-run of the recorded program, and so is the size of each row.
#pragma once

#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/plan/reruns.h"

namespace vramscope::plan {

struct LargestBatch {
  Changes others;     // in addition to the batch
  uint64_t size = 0;  // samples; 0 = not even one
  Verdict verdict;    // with that batch
};

struct LargestBatches {
  uint64_t recorded = 0;           // samples of the recorded batch
  std::vector<LargestBatch> rows;  // the first: nothing else changed
};

// `reruns`: nullptr where the recorded program cannot be run. An error is a sentence.
[[nodiscard]] Result<LargestBatches> FindLargestBatches(const whatif::Step& step, const Request& request,
                                                        Reruns* reruns);

}  // namespace vramscope::plan
