// SPDX-License-Identifier: Apache-2.0
// The circumstances under which a block was born: what the rules of categories.h ask besides its labels.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

struct Birth {
  timeline::Part part = timeline::Part::kOther;
  uint32_t step = 0;
  model::EventIndex backward = model::kNever;  // the backward pass that the preparation leads to
  model::EventIndex next_step_end =
      model::kNever;  // end of the step after the one of the birth; kNever: the trace has no such step
  // End of the optimizer's first step, of a birth in it; kNever where the optimizer's state is labelled,
  // which tells more.
  model::EventIndex optimizer_end = model::kNever;
  bool before_first_step = false;
  bool kept = false;         // made between two steps, and there for good
  bool weight_copy = false;  // part of a copy of all weights, made between two steps
  bool held =
      false;  // the process was attached to when the block was there already: nothing is known of its birth
};

// Whether the block's memory does not reach from one step into the one after the next.
[[nodiscard]] bool IsGoneSoon(const model::Block& block, const Birth& birth);

// Asked in order of allocation: one position per process, moved forward.
class Births {
 public:
  Births(const model::Run& run, std::span<const timeline::Training> training);

  [[nodiscard]] Birth Of(const model::Block& block);

 private:
  // A span, and what is the same for all blocks that are born in it.
  struct Place {
    size_t span = 0;
    bool known = false;
    Birth birth;
  };
  [[nodiscard]] bool WasHeld(const model::Block& block);
  [[nodiscard]] Birth BirthIn(size_t span, const timeline::Training& training) const;

  const model::Run& run_;
  bool state_is_labelled_ = false;
  std::unordered_map<uint32_t, bool> held_stacks_;  // by stack: is it the one of trace::kHeldFrame?
  uint32_t last_stack_ = 0;                         // that was looked at: mostly the next block's too
  bool last_held_ = false;
  std::span<const timeline::Training> training_;
  std::vector<Place> places_;  // by process
};

}  // namespace vramscope::classify
