// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/windows.h"

#include <algorithm>
#include <tuple>

#include "profiler/timeline/graph_phases.h"

namespace vramscope::timeline {
namespace {

using model::EventIndex;
using model::Range;
using model::ThreadIndex;
using trace::RangeKind;

// A wrapped LBFGS that steps inside a backward pass has four levels. A file may have any number. Deeper
// windows count as parts of the window around them, so code that follows `inside` does not run out of stack
// or time.
constexpr int kDeepestWindow = 64;

bool Trains(RangeKind kind) { return kind == RangeKind::kBackward || kind == RangeKind::kOptimizer; }

std::vector<ThreadIndex> FindTrainingThreads(const model::Run& run, model::ProcessIndex process) {
  std::vector<ThreadIndex> threads;
  for (const uint32_t index : run.processes[process].ranges) {
    if (Trains(run.ranges[index].kind)) threads.push_back(run.ranges[index].thread);
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

// Puts `window` into the innermost window that is still open at its begin. Two training threads may overlap
// without nesting: then the later window is cut where the window around it ends.
void Place(std::vector<Window>& outermost, Window window) {
  std::vector<Window>* level = &outermost;
  for (int depth = 1; !level->empty() && window.begin < level->back().end; ++depth) {
    if (depth == kDeepestWindow) return;
    window.end = std::min(window.end, level->back().end);
    level = &level->back().inside;
  }
  level->push_back(std::move(window));
}

template <typename Piece>
void SortByBegin(std::vector<Piece>& pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
}

// Appends an interval unless it lies inside the last one.
void PlaceOutermost(std::vector<Interval>& intervals, Interval interval) {
  if (intervals.empty() || interval.begin >= intervals.back().end) {
    intervals.push_back(interval);
  } else {
    intervals.back().end = std::max(intervals.back().end, interval.end);
  }
}

// Inserts the graph replays that stand for a backward pass into the windows: those before an optimizer
// without a backward window since the previous optimizer.
void PlaceReplays(std::vector<Window>& outermost, const std::vector<Window>& replays) {
  if (replays.empty()) return;
  std::vector<Window> placed;
  auto replay = replays.begin();
  bool backward = false;
  EventIndex from = 0;  // the end of the previous optimizer
  for (Window& window : outermost) {
    if (window.optimizer && !backward) {
      while (replay != replays.end() && replay->begin < from) ++replay;
      for (; replay != replays.end() && replay->begin < window.begin; ++replay) placed.push_back(*replay);
    }
    backward = !window.optimizer;
    if (window.optimizer) from = window.end;
    placed.push_back(std::move(window));
  }
  outermost = std::move(placed);
}

}  // namespace

TrainingWindows FindWindows(const model::Run& run, model::ProcessIndex process) {
  TrainingWindows windows;
  std::vector<Window> replays;
  GraphPhases graph = FindGraphPhases(run, process);
  std::vector<Window> found = std::move(graph.windows);
  std::vector<Interval> modules = std::move(graph.forward);
  windows.threads = FindTrainingThreads(run, process);
  for (const uint32_t index : run.processes[process].ranges) {
    const Range& range = run.ranges[index];
    const Interval interval{range.begin, std::min(range.end, run.event_count())};
    const bool on_training_thread =
        windows.threads.empty() ||
        std::binary_search(windows.threads.begin(), windows.threads.end(), range.thread);
    if (!on_training_thread) {
      if (range.kind == RangeKind::kDataLoader) windows.other_data.push_back({range.thread, interval});
      continue;
    }
    switch (range.kind) {
      case RangeKind::kBackward:
      case RangeKind::kOptimizer:
        found.push_back(
            {interval.begin, interval.end, range.id, range.thread, {}, range.kind == RangeKind::kOptimizer});
        break;
      case RangeKind::kGraphReplay:
        replays.push_back({interval.begin, interval.end, range.id, range.thread, {}, false});
        break;
      case RangeKind::kDataLoader:
        PlaceOutermost(windows.data, interval);
        break;
      case RangeKind::kModule:
        modules.push_back(interval);
        break;
      case RangeKind::kAutocast:
        PlaceOutermost(windows.autocast, interval);
        break;
      default:
        break;
    }
  }
  SortByBegin(found);
  for (Window& window : found) Place(windows.outermost, std::move(window));
  SortByBegin(modules);
  for (const Interval& interval : modules) PlaceOutermost(windows.modules, interval);
  PlaceReplays(windows.outermost, replays);
  std::sort(windows.other_data.begin(), windows.other_data.end(), [](const auto& a, const auto& b) {
    return std::tie(a.thread, a.interval.begin) < std::tie(b.thread, b.interval.begin);
  });
  return windows;
}

}  // namespace vramscope::timeline
