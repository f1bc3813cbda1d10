// SPDX-License-Identifier: Apache-2.0
// The windows of a training process: when backward ran, an optimizer stepped or a data loader was called, and
// which module calls and autocast regions ran.
//
// Ranges belong to single threads, but a process trains as a whole: autograd allocates on its own threads
// while the thread that called backward() waits. So the windows of the training threads (those that ever ran
// a backward or an optimizer) are the windows of the process.
//
//   thread main   ──data──   ─────backward─────   ──optimizer──────────────
//   autograd            allocates here ▲              ─backward─
//                                                     inside the optimizer (LBFGS): nested in its window
//
// A step that replays a CUDA graph and then calls the optimizer has no backward of its own: the graph is its
// forward and its backward. If backward ran since the last optimizer, graph replays do not form windows of
// their own.
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
  bool optimizer = false;      // else: backward, or a graph replay that stands for forward and backward
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
  // On the training threads (on all threads if nothing was trained), in order, not overlapping:
  std::vector<Interval> data;               // calls of a data loader for the next batch
  std::vector<Interval> modules;            // the outermost module calls (deep steps)
  std::vector<Interval> autocast;           // the outermost autocast regions
  std::vector<model::ThreadIndex> threads;  // the training threads, in order; empty if nothing was trained
  // Data loading on other threads (prefetchers), by thread, then begin.
  std::vector<ThreadInterval> other_data;
};

[[nodiscard]] TrainingWindows FindWindows(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::timeline
