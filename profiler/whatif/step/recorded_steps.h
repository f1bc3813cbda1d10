// SPDX-License-Identifier: Apache-2.0
// The steps that a question may be about: training steps, or without training, calls of a model.
//
// A program that only runs its model forward has no optimizer, so no optimizer step ends its steps. Its loop
// still shows if modules were recorded:
//
//   load │ batch  model(batch) │ batch  model(batch) │ ...
//        └─ step 1 ────────────┴─ step 2 ────────────┴─
//
// A step ends with the call of the module that is called least often from the program itself.
#pragma once

#include "profiler/classify/analysis.h"
#include "profiler/whatif/step/step.h"
#include "trace_format/result.h"

namespace vramscope::whatif {

struct LoopSteps {
  timeline::Step first;
  timeline::Step before;  // the step before the chosen one, or the chosen one if it is the first recorded
  timeline::Step chosen;  // the last complete deep step, but never the first step
};

// Chooses training steps if there are any. The error is a sentence that explains what to record.
[[nodiscard]] Result<LoopSteps> ChooseSteps(const classify::Analysis& analysis, model::ProcessIndex process);

// Reads PyTorch's release and the allocator settings from the recording. Settings that the program put into
// its own environment take precedence over those it was started with.
void TakeFacts(const trace::Metadata& facts, Step& step);

}  // namespace vramscope::whatif
