// SPDX-License-Identifier: Apache-2.0
// The rules of categories.h, applied to one block.
#pragma once

#include "profiler/classify/categories.h"

namespace vramscope::classify {

// What the rules ask about a block besides its facts.
struct Birth {
  timeline::Part part = timeline::Part::kOther;
  uint32_t step = 0;
  model::EventIndex backward = model::kNever;  // the backward pass that the preparation leads to
  model::EventIndex next_step_end =
      model::kNever;  // end of the step after the one of the birth; kNever: the trace has no such step
  bool before_first_step = false;
};

[[nodiscard]] Life Classify(const model::Run& run, const model::Block& block, const Birth& birth);

}  // namespace vramscope::classify
