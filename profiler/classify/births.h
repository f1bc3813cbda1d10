// SPDX-License-Identifier: Apache-2.0
// The circumstances of a block's allocation, such as its phase and step. The rules of categories.h use them
// in addition to labels.
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
  // Begin of the backward pass that follows the allocation's phase; kNever if there is none.
  model::EventIndex backward = model::kNever;
  // End of the step that follows the step of the allocation. kNever if there is no such step.
  model::EventIndex next_step_end = model::kNever;
  // End of the optimizer phase, for a block that is allocated in this phase of the first step. kNever for
  // other blocks. Also kNever if labels name the optimizer's state.
  model::EventIndex optimizer_end = model::kNever;
  bool before_first_step = false;
  bool kept = false;         // allocated between two steps, and not freed in the next step (kept.h)
  bool weight_copy = false;  // part of a copy of all weights, allocated between two steps
  // The block existed before the recorder attached to the process.
  bool held = false;
};

// True if the block was allocated in a step and is freed before Birth::next_step_end, or if there is no next
// step. The result is false for a block that was allocated outside of steps.
[[nodiscard]] bool IsGoneSoon(const model::Block& block, const Birth& birth);

// Returns the Birth of each block. Of() must be called in order of allocation.
class Births {
 public:
  Births(const model::Run& run, std::span<const timeline::Training> training);

  [[nodiscard]] Birth Of(const model::Block& block);

 private:
  struct Place {
    size_t span = 0;
    bool known = false;
    Birth birth;
  };
  [[nodiscard]] bool WasHeld(const model::Block& block);
  [[nodiscard]] Birth BirthIn(size_t span, const timeline::Training& training) const;

  const model::Run& run_;
  bool state_is_labeled_ = false;
  // By stack id: true if the only frame is trace::kHeldFrame.
  std::unordered_map<uint32_t, bool> held_stacks_;
  // Stack id of the last lookup, cached because the next block often has the same stack.
  uint32_t last_stack_ = 0;
  bool last_held_ = false;
  std::span<const timeline::Training> training_;
  std::vector<Place> places_;  // by process
};

}  // namespace vramscope::classify
