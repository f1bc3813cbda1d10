// SPDX-License-Identifier: Apache-2.0
// The steps that a question may be about: those of training, or where nothing is trained, calls of a model.
//
// A program that only runs its model forward has no optimizer that would end a step. Its loop still shows,
// when it was recorded with modules:
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
  timeline::Step before;  // the one before the chosen one, or that itself where it is the first that was seen
  timeline::Step chosen;  // the last complete one behind it that was recorded with its operators
};

// Of training when there are steps of it. An error is a sentence that says what to record.
[[nodiscard]] Result<LoopSteps> ChooseSteps(const classify::Analysis& analysis, model::ProcessIndex process);

// What the recording tells of releases and settings. What the program has set itself, in its environment,
// counts more than what it was started with.
void TakeFacts(const trace::Metadata& facts, Step& step);

}  // namespace vramscope::whatif
