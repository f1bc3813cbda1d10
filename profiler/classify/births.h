// SPDX-License-Identifier: Apache-2.0
// The circumstances of a block's allocation. The rules of categories.h use them in addition to labels.
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
  model::EventIndex backward = model::kNever;  // begin of the backward pass that this phase leads to
  // End of the step after the one in which the block was allocated; kNever if the trace has no such step.
  model::EventIndex next_step_end = model::kNever;
  // End of the optimizer's first step, for a block allocated in it. kNever if the optimizer's state has
  // labels, which are better evidence.
  model::EventIndex optimizer_end = model::kNever;
  bool before_first_step = false;
  bool kept = false;         // allocated between two steps, and kept (kept.h)
  bool weight_copy = false;  // part of a copy of all weights, allocated between two steps
  // The block existed before the recorder attached to the process: its allocation was not seen.
  bool held = false;
};

// True if the block is freed before Birth::next_step_end, or if there is no such step.
[[nodiscard]] bool IsGoneSoon(const model::Block& block, const Birth& birth);

// Finds the Birth of each block. Of() must be called in order of allocation: Births keeps one position per
// process and moves it forward.
class Births {
 public:
  Births(const model::Run& run, std::span<const timeline::Training> training);

  [[nodiscard]] Birth Of(const model::Block& block);

 private:
  // A span, and the data that is the same for all blocks allocated in it.
  struct Place {
    size_t span = 0;
    bool known = false;
    Birth birth;
  };
  [[nodiscard]] bool WasHeld(const model::Block& block);
  [[nodiscard]] Birth BirthIn(size_t span, const timeline::Training& training) const;

  const model::Run& run_;
  bool state_is_labeled_ = false;
  std::unordered_map<uint32_t, bool> held_stacks_;  // by stack: true if it is only trace::kHeldFrame
  uint32_t last_stack_ = 0;                         // last lookup; the next block often has the same
  bool last_held_ = false;
  std::span<const timeline::Training> training_;
  std::vector<Place> places_;  // by process
};

}  // namespace vramscope::classify
