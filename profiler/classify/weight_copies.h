// SPDX-License-Identifier: Apache-2.0
// Finds copies of all weights of a model that a program creates between two steps. Such a copy may hold the
// best weights so far, an average of the weights, or a snapshot for a rollback.
//
//   parameters              4 MiB   4 KiB   4 MiB   40 KiB   40 B
//   made after step 7       4 MiB   4 KiB   4 MiB   40 KiB   40 B  512 B     a block for each parameter:
//                                                                            these blocks are a copy
//   the batch of step 8     256 KiB
//
// Only sizes are compared, because the operands of clone() are recorded only in deep steps.
#pragma once

#include <span>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

// Returns the ids of the copies' blocks in ascending order. Finds no copies if the model has only one
// parameter. O(blocks).
[[nodiscard]] std::vector<model::BlockId> FindWeightCopies(const model::Run& run,
                                                           std::span<const timeline::Training> training);

}  // namespace vramscope::classify
