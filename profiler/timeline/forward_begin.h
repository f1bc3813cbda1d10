// SPDX-License-Identifier: Apache-2.0
// Where forward begins: the one edge of a step that no hook reports in the light depth.
//
// A gap is what lies between two windows of training; forward ends where the backward window begins, and
// begins somewhere in the gap:
//
//   ...optimizer│ scheduler, logging │data│ prepare batch │ forward                │backward...
//               └ gap                     └ anchor        └ found here             └ gap ends
//
// In order of trust: the first module call (deep steps); the autocast region that enclosed just that call in
// the deep steps of this run; the allocations before backward that were asked for there, in their order and
// counted back, micro-batch by micro-batch (a step repeats itself, and what comes between the steps, like an
// evaluation, does not move this; a first step may make more between them, like a loss scale or what its
// forward caches); as many allocations, where others were asked for; the first autocast region; the first
// tensor that autograd saves. A program may train several models in turn, so the deep steps nearest to a
// light one teach it. The anchor is the end of the last data window that is followed by a save, so that
// batches of an evaluation in the same gap are not taken for the training batch.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

struct Gap {
  model::EventIndex begin = 0;
  model::EventIndex end = 0;
  model::ThreadIndex thread = 0;  // that ran the window at its end
  uint32_t step = 0;              // 0 = the run's first
  uint32_t micro_batch = 0;       // the how-manieth backward pass of its step it leads to
  bool to_backward = false;
};

// The parts of a gap that a search gives.
struct ForwardEdges {
  model::EventIndex anchor = 0;   // begin of the search: the gap's begin, or the end of a data window
  size_t data_before = 0;         // data windows of the gap before the anchor
  model::EventIndex forward = 0;  // begin of forward; the gap's end when there is none
};

class ForwardBegin {
 public:
  ForwardBegin(const model::Run& run, model::ProcessIndex process, const TrainingWindows& windows)
      : run_(run), process_(process), windows_(windows) {}

  // Remembers how long forward was, in allocations, if the gap lies in a deep step. To be told all gaps
  // before Find.
  void Learn(const Gap& gap);
  [[nodiscard]] ForwardEdges Find(const Gap& gap) const;

  // The first save in [begin, end), or `end`.
  [[nodiscard]] model::EventIndex FirstSave(model::EventIndex begin, model::EventIndex end) const;
  // Those of `intervals` that begin in [begin, end).
  [[nodiscard]] static std::span<const Interval> Within(const std::vector<Interval>& intervals,
                                                        model::EventIndex begin, model::EventIndex end);

 private:
  // What a row of deep steps says about the light ones.
  struct Lesson {
    uint32_t first_step = 0;
    uint32_t last_step = 0;
    model::EventIndex forward = 0;  // of the shortest of them, until `end`, when backward begins
    model::EventIndex end = 0;
    model::ThreadIndex thread = 0;
    uint32_t allocations = 0;         // of that forward
    uint32_t autocast_from_last = 0;  // the how-manieth region from the gap's end began with it; 0 = none did
  };

  // That of the deep steps nearest to the gap, the earlier ones of two; nullptr if there are none.
  [[nodiscard]] const Lesson* LessonFor(const Gap& gap) const;
  // Where forward begins if the gap is as the deep steps were; kNever if that does not fit.
  [[nodiscard]] model::EventIndex AsLearnt(const Gap& gap, model::EventIndex anchor) const;
  void FindAnchor(const Gap& gap, ForwardEdges& edges) const;
  // Allocations on the gap's thread in [begin, end).
  [[nodiscard]] uint32_t CountAllocations(model::ThreadIndex thread, model::EventIndex begin,
                                          model::EventIndex end) const;
  // The event of the allocation that the lesson's forward begins with, if all its allocations are found in
  // the gap's part behind `begin`, in their order and perhaps with others between them; else kNever.
  [[nodiscard]] model::EventIndex MatchBack(const Gap& gap, model::EventIndex begin,
                                            const Lesson& lesson) const;
  // The event of the `count`-th allocation before the gap's end; kNever if the gap's part behind `begin` has
  // fewer.
  [[nodiscard]] model::EventIndex CountBack(const Gap& gap, model::EventIndex begin, uint32_t count) const;

  const model::Run& run_;
  model::ProcessIndex process_;
  const TrainingWindows& windows_;
  std::unordered_map<uint32_t, std::vector<Lesson>> learnt_;  // by micro-batch, in the order of steps
};

}  // namespace vramscope::timeline
