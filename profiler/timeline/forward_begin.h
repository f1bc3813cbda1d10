// SPDX-License-Identifier: Apache-2.0
// Finds where forward begins. No hook reports it in a light step.
//
// A gap is the interval between two windows of training. Forward begins somewhere in the gap and ends where
// the backward window begins:
//
//   ...optimizer│ scheduler, logging │data│ prepare batch │ forward                │backward...
//               └ gap                     └ anchor        └ found here             └ gap ends
//
// The evidence, most trusted first:
//   1. the first module call (deep steps);
//   2. the autocast region that enclosed exactly that call in the deep steps of this run;
//   3. the allocations of forward in those deep steps, found again in the same order before backward;
//   4. the same number of allocations before backward, if their sizes differ;
//   5. the first autocast region;
//   6. the first tensor that autograd saves.
//
// Rules 3 and 4 count back from backward, per micro-batch. Work between steps, such as an evaluation, does
// not shift the result. Rule 3 allows other allocations in between, as first steps have them. A light step
// uses the nearest deep steps. The anchor is the end of the last data window after which autograd saves a
// tensor. Batches of an evaluation have no such saves.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

struct Gap {
  model::EventIndex begin = 0;
  model::EventIndex end = 0;
  model::ThreadIndex thread = 0;  // the thread of the window that ends the gap
  uint32_t step = 0;              // 0 = the run's first step
  uint32_t micro_batch = 0;       // number of the backward pass that follows, within its step
  bool to_backward = false;
};

struct ForwardEdges {
  model::EventIndex anchor = 0;   // start of the search: the gap's begin, or the end of a data window
  size_t data_before = 0;         // data windows of the gap before the anchor
  model::EventIndex forward = 0;  // begin of forward; the gap's end if there is none
};

class ForwardBegin {
 public:
  ForwardBegin(const model::Run& run, model::ProcessIndex process, const TrainingWindows& windows)
      : run_(run), process_(process), windows_(windows) {}

  // For a gap in a deep step: stores the length of its forward, in allocations. Call for all gaps before
  // Find.
  void Learn(const Gap& gap);
  [[nodiscard]] ForwardEdges Find(const Gap& gap) const;

  // The first save in [begin, end), or `end`.
  [[nodiscard]] model::EventIndex FirstSave(model::EventIndex begin, model::EventIndex end) const;
  // The elements of `intervals` that begin in [begin, end).
  [[nodiscard]] static std::span<const Interval> Within(const std::vector<Interval>& intervals,
                                                        model::EventIndex begin, model::EventIndex end);

 private:
  // Facts of consecutive deep steps, for the light steps.
  struct Lesson {
    uint32_t first_step = 0;
    uint32_t last_step = 0;
    // Begin of the shortest forward among them. Forward ends at `end`, where backward begins.
    model::EventIndex forward = 0;
    model::EventIndex end = 0;
    model::ThreadIndex thread = 0;
    uint32_t allocations = 0;  // of that forward
    // The autocast region that began with that forward: position from the gap's end; 0 = none.
    uint32_t autocast_from_last = 0;
  };

  // The lesson of the nearest deep steps, the earlier one on a tie; nullptr if none.
  [[nodiscard]] const Lesson* LessonFor(const Gap& gap) const;
  // Where forward begins if the gap matches the deep steps, else kNever.
  [[nodiscard]] model::EventIndex AsLearned(const Gap& gap, model::EventIndex anchor) const;
  void FindAnchor(const Gap& gap, ForwardEdges& edges) const;
  // Allocations on the gap's thread in [begin, end).
  [[nodiscard]] uint32_t CountAllocations(model::ThreadIndex thread, model::EventIndex begin,
                                          model::EventIndex end) const;
  // The event of the first allocation of the lesson's forward. kNever unless all its allocations follow
  // `begin` in order, within the gap. Others may lie in between.
  [[nodiscard]] model::EventIndex MatchBack(const Gap& gap, model::EventIndex begin,
                                            const Lesson& lesson) const;
  // The `count`-th allocation before the gap's end; kNever if the gap after `begin` has fewer.
  [[nodiscard]] model::EventIndex CountBack(const Gap& gap, model::EventIndex begin, uint32_t count) const;

  const model::Run& run_;
  model::ProcessIndex process_;
  const TrainingWindows& windows_;
  std::unordered_map<uint32_t, std::vector<Lesson>> learned_;  // by micro-batch, in the order of steps
};

}  // namespace vramscope::timeline
