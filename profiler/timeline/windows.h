// SPDX-License-Identifier: Apache-2.0
// The windows of a training process: backward, optimizer steps, data loading, module calls and autocast
// regions.
//
// Windows of the training threads are windows of the process. A training thread has run a backward or an
// optimizer at least once.
//
//   thread main   ──data──   ─────backward─────   ──optimizer──────────────
//   autograd            allocates here ▲              ─backward─
//                                                     inside the optimizer (LBFGS): nested in its window
//
// A replayed CUDA graph counts as forward and backward, unless backward ran since the last optimizer.
#pragma once

#include <vector>

#include "profiler/model/run.h"

namespace vramscope::timeline {

struct Window {
  model::EventIndex begin = 0;  // of its kRangeBegin
  model::EventIndex end = 0;    // of its kRangeEnd; the number of events if it never ended
  uint64_t id = 0;
  model::ThreadIndex thread = 0;
  std::vector<Window> inside;  // backward and optimizer windows within, in order
  bool optimizer = false;      // else: backward, or a graph replay (forward and backward)
};

struct Interval {
  model::EventIndex begin = 0;
  model::EventIndex end = 0;
};

struct ThreadInterval {
  model::ThreadIndex thread = 0;
  Interval interval;
};

struct TrainingWindows {
  std::vector<Window> outermost;  // backward and optimizer, in order, not overlapping
  // On the training threads (on all threads if there is no training), in order, not overlapping:
  std::vector<Interval> data;               // calls of a data loader for the next batch
  std::vector<Interval> modules;            // the outermost module calls (deep steps)
  std::vector<Interval> autocast;           // the outermost autocast regions
  std::vector<model::ThreadIndex> threads;  // the training threads; empty without training
  // Data loading on other threads (prefetchers), by thread, then begin.
  std::vector<ThreadInterval> other_data;
};

[[nodiscard]] TrainingWindows FindWindows(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::timeline
