// SPDX-License-Identifier: Apache-2.0
// Finds the events at which the steps of a training loop end.
//
// A program may have several optimizers. A step ends when the optimizer with the fewest step() calls has
// stepped. Example: the discriminator D of a GAN steps five times for each step of the generator G.
// Optimizers whose calls never alternate belong to separate loops, such as pretraining and fine-tuning.
//
//   D G D G D G            ends after each G; on a tie, the optimizer whose first step comes later counts
//   D D D D D G D D ...    ends after each G
//   A A A A B B B          two loops: ends after each A, and after each B
//
// A call of step() that raised an exception does not end a step. If the recorder marked the calls that
// returned, an optimizer window without a mark is ignored.
//
// If there are no optimizer windows, the marks of optimizer steps are used. If there are no marks either,
// each backward pass ends a step.
#pragma once

#include <vector>

#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

struct StepEnds {
  std::vector<model::EventIndex> ends;  // ascending; for each step, the first event after the step
  enum class Source : uint8_t { kNone, kOptimizerWindows, kOptimizerMarks, kBackwardWindows } source{};
};

[[nodiscard]] StepEnds FindStepEnds(const model::Run& run, model::ProcessIndex process,
                                    const TrainingWindows& windows);

}  // namespace vramscope::timeline
