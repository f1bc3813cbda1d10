// SPDX-License-Identifier: Apache-2.0
// The search the other way round: the largest batch that fits, as the program is and with cheap changes.
//
// Each row costs more than the one before it (rank.h) and allows a larger batch; what costs more for nothing
// is left out. Tried are single settings, all checkpoints, and the best of these with each of the others as
// long as that helps. Sizes are found by doubling and halving: memory is taken to grow with the batch, and
// the size that is told was replayed.
#pragma once

#include <vector>

#include "profiler/plan/plan.h"

namespace vramscope::plan {

struct LargestBatch {
  Changes others;     // beside the batch
  uint64_t size = 0;  // samples; 0 = not even one
  Verdict verdict;    // with that batch
};

struct LargestBatches {
  uint64_t recorded = 0;           // samples of the recorded batch
  std::vector<LargestBatch> rows;  // the first: nothing else changed
};

// An error is a sentence: the batch cannot be told from the step.
[[nodiscard]] Result<LargestBatches> FindLargestBatches(const whatif::Step& step,
                                                        const whatif::Baseline& baseline,
                                                        const Request& request);

}  // namespace vramscope::plan
