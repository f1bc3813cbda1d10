// SPDX-License-Identifier: Apache-2.0
// Copies of all weights of a model that a program makes between two steps: the best ones so far, an average,
// a snapshot to go back to.
//
//   parameters              4 MiB   4 KiB   4 MiB   40 KiB   40 B
//   made after step 7       4 MiB   4 KiB   4 MiB   40 KiB   40 B  512 B     each has its counterpart:
//                                                                            a copy
//   the batch of step 8     256 KiB
//
// Why by their sizes: the operands of clone() are recorded in deep steps alone, and a program makes such
// copies when it likes. That every parameter has a counterpart, between two steps, is no accident.
#pragma once

#include <span>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

// Blocks that are such copies, ascending. Models of one parameter have none: one size proves nothing.
// O(blocks).
[[nodiscard]] std::vector<model::BlockId> FindWeightCopies(const model::Run& run,
                                                           std::span<const timeline::Training> training);

}  // namespace vramscope::classify
