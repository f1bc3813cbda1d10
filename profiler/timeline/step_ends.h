// SPDX-License-Identifier: Apache-2.0
// Where the steps of a training loop end.
//
// A step ends with the optimizer that steps least often. A GAN's discriminator may step five times for one
// step of the generator, and its authors call all of that one iteration. Optimizers that never alternate
// (pretraining, then fine-tuning) belong to separate loops.
//
//   D G D G D G            ends after each G (a tie: G made its first step after D made its first)
//   D D D D D G D D ...    ends after each G
//   A A A A B B B          two loops: ends after each A, then after each B
//
// A call of step() that raised an exception ends no step. If the recorder marked the calls that returned, a
// window without its mark is not a step.
//
// Without optimizer windows, marks of finished optimizer steps end the steps. Without those, each backward
// pass does.
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
