// SPDX-License-Identifier: Apache-2.0
// The circumstances of a block's allocation, used by the rules of categories.h in addition to labels.
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
  // End of the step after the allocation's step; kNever if there is none.
  model::EventIndex next_step_end = model::kNever;
  // For a block allocated in the optimizer's first step: the end of that step. kNever if labels name the
  // optimizer's state.
  model::EventIndex optimizer_end = model::kNever;
  bool before_first_step = false;
  bool kept = false;         // allocated between two steps, and kept (kept.h)
  bool weight_copy = false;  // part of a copy of all weights, allocated between two steps
  // The block existed before the recorder attached to the process.
  bool held = false;
};

// True if the block is freed before Birth::next_step_end, or if there is no such step.
[[nodiscard]] bool IsGoneSoon(const model::Block& block, const Birth& birth);

// Of() must be called in order of allocation.
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
  std::unordered_map<uint32_t, bool> held_stacks_;  // by stack: true if it has only trace::kHeldFrame
  uint32_t last_stack_ = 0;                         // of the last lookup; the next block often has the same
  bool last_held_ = false;
  std::span<const timeline::Training> training_;
  std::vector<Place> places_;  // by process
};

}  // namespace vramscope::classify
