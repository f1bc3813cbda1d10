// SPDX-License-Identifier: Apache-2.0
// The steps that a question may be about: training steps, or without training, calls of a model.
//
// A program that only runs forward has no optimizer to end its steps. Recorded modules show its loop:
//
//   load │ batch  model(batch) │ batch  model(batch) │ ...
//        └─ step 1 ────────────┴─ step 2 ────────────┴─
//
// A step ends with the call of the module that the program itself calls least often.
#pragma once

#include "profiler/classify/analysis.h"
#include "profiler/whatif/step/step.h"
#include "trace_format/result.h"

namespace vramscope::whatif {

struct LoopSteps {
  timeline::Step first;
  timeline::Step before;  // the step before `chosen`; `chosen` if no earlier step was recorded
  timeline::Step chosen;  // the last complete deep step, never step 1
};

// Chooses training steps if there are any. The error explains what to record.
[[nodiscard]] Result<LoopSteps> ChooseSteps(const classify::Analysis& analysis, model::ProcessIndex process);

// Reads PyTorch's release and the allocator settings. Settings that the program put into its environment take
// precedence.
void TakeFacts(const trace::Metadata& facts, Step& step);

}  // namespace vramscope::whatif
