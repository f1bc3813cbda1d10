// SPDX-License-Identifier: Apache-2.0
// Finds the event at which a forward pass begins. In a light step no hook reports this event, so it must be
// inferred.
//
// A window is an interval for which a hook reports the phase, such as backward or optimizer. A gap is the
// interval between two windows. Forward begins somewhere in the gap, and ends where the backward window
// begins:
//
//   ...optimizer│ scheduler, logging │data│ prepare batch │ forward                │backward...
//               └ gap                     └ anchor        └ found here             └ gap ends
//
// Forward begins at the first of these events that exists:
//   1. the first module call (recorded in deep steps only);
//   2. the autocast region that, in deep steps, began directly before that module call;
//   3. the first of the allocations that forward makes in deep steps, if all of them occur here in order;
//   4. the N-th allocation before backward, if forward makes N allocations in deep steps;
//   5. the begin of the first autocast region;
//   6. the first tensor that autograd saves; also if this event comes before the one found by 2 to 5.
//
// Rules 3 and 4 count backward from the backward window, for each micro-batch. So work between steps, such as
// an evaluation, does not change the result. Rule 3 allows other allocations in between, because first steps
// make additional allocations. A light step is compared with the nearest deep steps.
//
// The search begins at the anchor. The anchor is the end of the last data window after which autograd saves a
// tensor. After the batches of an evaluation, autograd saves no tensors, so these batches are skipped.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

struct Gap {
  model::EventIndex begin = 0;
  model::EventIndex end = 0;
  model::ThreadIndex thread = 0;  // thread of the window that follows the gap
  uint32_t step = 0;              // 0 = the run's first step
  uint32_t micro_batch = 0;       // number of the following backward pass within its step
  // True if a backward window follows the gap.
  bool to_backward = false;
};

struct ForwardEdges {
  model::EventIndex anchor = 0;   // start of the search: begin of the gap, or end of a data window
  size_t data_before = 0;         // number of data windows in the gap before the anchor
  model::EventIndex forward = 0;  // begin of forward; end of the gap if there is no forward
};

class ForwardBegin {
 public:
  ForwardBegin(const model::Run& run, model::ProcessIndex process, const TrainingWindows& windows)
      : run_(run), process_(process), windows_(windows) {}

  // Learns from a gap in a deep step how many allocations its forward makes. Call this for all gaps of deep
  // steps before Find.
  void Learn(const Gap& gap);
  [[nodiscard]] ForwardEdges Find(const Gap& gap) const;

  // Returns the first event in [begin, end) at which autograd saves a tensor; `end` if there is none.
  [[nodiscard]] model::EventIndex FirstSave(model::EventIndex begin, model::EventIndex end) const;
  // Returns the elements of `intervals` that begin in [begin, end).
  [[nodiscard]] static std::span<const Interval> Within(const std::vector<Interval>& intervals,
                                                        model::EventIndex begin, model::EventIndex end);

 private:
  // What was learned from a group of consecutive deep steps. Light steps are compared with it.
  struct Lesson {
    uint32_t first_step = 0;
    uint32_t last_step = 0;
    // Begin of the forward with the fewest allocations in these steps. This forward ends at `end`, where
    // backward begins.
    model::EventIndex forward = 0;
    model::EventIndex end = 0;
    model::ThreadIndex thread = 0;
    uint32_t allocations = 0;  // number of allocations of this forward
    // Number of the autocast region that began directly before this forward. The regions are counted back
    // from the gap's end: 1 = the last region. 0 = there is none.
    uint32_t autocast_from_last = 0;
  };

  // Returns the lesson of the nearest deep steps, the earlier one on a tie; nullptr if there is none.
  [[nodiscard]] const Lesson* LessonFor(const Gap& gap) const;
  // Returns the begin of forward by rules 2 to 4, or kNever if none of these rules applies.
  [[nodiscard]] model::EventIndex AsLearned(const Gap& gap, model::EventIndex anchor) const;
  void FindAnchor(const Gap& gap, ForwardEdges& edges) const;
  // Returns the number of allocations on `thread` in [begin, end).
  [[nodiscard]] uint32_t CountAllocations(model::ThreadIndex thread, model::EventIndex begin,
                                          model::EventIndex end) const;
  // Implements rule 3: finds the lesson's allocations after `begin` in the gap, in order; others may lie in
  // between. Returns the event of the first of them, or kNever if any of them is missing.
  [[nodiscard]] model::EventIndex MatchBack(const Gap& gap, model::EventIndex begin,
                                            const Lesson& lesson) const;
  // Implements rule 4: returns the `count`-th allocation before the gap's end, or kNever if there are fewer
  // after `begin`.
  [[nodiscard]] model::EventIndex CountBack(const Gap& gap, model::EventIndex begin, uint32_t count) const;

  const model::Run& run_;
  model::ProcessIndex process_;
  const TrainingWindows& windows_;
  std::unordered_map<uint32_t, std::vector<Lesson>> learned_;  // by micro-batch, in the order of steps
};

}  // namespace vramscope::timeline
