// SPDX-License-Identifier: Apache-2.0
// Finds the windows of a training process. A window is the interval of one call: a backward pass, an
// optimizer step, a data loader call, a module call or an autocast region.
//
// A training thread is a thread that has run a backward pass or an optimizer at least once. Only windows of
// training threads count as windows of the process.
//
//   thread main   ──data──   ─────backward─────   ──optimizer──────────────
//   autograd            allocates here ▲              ─backward─
//                                                     inside an optimizer step (LBFGS): nested window
//
// If no backward pass ran between two optimizer steps, the replays of CUDA graphs between them count as
// forward and backward.
#pragma once

#include <vector>

#include "profiler/model/run.h"

namespace vramscope::timeline {

struct Window {
  model::EventIndex begin = 0;  // event kRangeBegin
  model::EventIndex end = 0;    // event kRangeEnd; number of events if the window never ended
  uint64_t id = 0;
  model::ThreadIndex thread = 0;
  std::vector<Window> inside;  // nested backward and optimizer windows, in order
  bool optimizer = false;      // false: backward, or graph replay (forward and backward)
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
  std::vector<Window> outermost;  // backward and optimizer windows, in order, not overlapping
  // Windows of the training threads, in order, not overlapping. Without training threads: windows of all
  // threads.
  std::vector<Interval> data;               // calls of a data loader for the next batch
  std::vector<Interval> modules;            // the outermost module calls (deep steps)
  std::vector<Interval> autocast;           // the outermost autocast regions
  std::vector<model::ThreadIndex> threads;  // the training threads; empty without training
  // Data loading on other threads (prefetchers), in order of thread, then of begin.
  std::vector<ThreadInterval> other_data;
};

[[nodiscard]] TrainingWindows FindWindows(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::timeline
