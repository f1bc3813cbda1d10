// SPDX-License-Identifier: Apache-2.0
// Chooses the steps from which changes are predicted: training steps, or, without training, calls of a model.
//
// A program that only runs forward has no optimizer that ends its steps. Its loop is found from the recorded
// module calls:
//
//   load │ batch  model(batch) │ batch  model(batch) │ ...
//        └─ step 1 ────────────┴─ step 2 ────────────┴─
//
// A step ends with a call of one module: among the modules that the program calls itself, the one that it
// calls least often.
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

// Chooses training steps if there are any. If no step can be used, the error explains what to record.
[[nodiscard]] Result<LoopSteps> ChooseSteps(const classify::Analysis& analysis, model::ProcessIndex process);

// Reads PyTorch's release and the allocator settings from the metadata of the trace. Settings that the
// program set itself in its environment take precedence.
void TakeFacts(const trace::Metadata& facts, Step& step);

}  // namespace vramscope::whatif
