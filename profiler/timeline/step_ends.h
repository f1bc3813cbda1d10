// SPDX-License-Identifier: Apache-2.0
// Where the steps of a training loop end.
//
// A step ends with the optimizer that steps least often. Example: a GAN's discriminator steps five times per
// step of the generator. Optimizers that never alternate belong to separate loops (pretraining, then
// fine-tuning).
//
//   D G D G D G            ends after each G (a tie: G made its first step after D made its first)
//   D D D D D G D D ...    ends after each G
//   A A A A B B B          two loops: ends after each A, then after each B
//
// A step() that raised an exception ends no step. If the recorder marked the calls that returned, a window
// without a mark is not a step.
//
// Without optimizer windows, marks of optimizer steps count. Without marks, each backward pass ends a step.
#pragma once

#include <vector>

#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

struct StepEnds {
  std::vector<model::EventIndex> ends;  // ascending; the first event after each step
  enum class Source : uint8_t { kNone, kOptimizerWindows, kOptimizerMarks, kBackwardWindows } source{};
};

[[nodiscard]] StepEnds FindStepEnds(const model::Run& run, model::ProcessIndex process,
                                    const TrainingWindows& windows);

}  // namespace vramscope::timeline
