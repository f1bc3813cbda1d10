// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/graph_phases.h"

namespace vramscope::timeline {
namespace {

constexpr char kCounterName[] = "step.phase";
enum Value : uint64_t { kForward = 1, kBackward = 2, kOptimizer = 3 };

}  // namespace

GraphPhases FindGraphPhases(const model::Run& run, model::ProcessIndex process) {
  GraphPhases phases;
  uint64_t open = 0;
  model::EventIndex since = 0;
  const auto close = [&](model::EventIndex end) {
    if (open == kForward) {
      phases.forward.push_back({since, end});
    } else if (open == kBackward || open == kOptimizer) {
      Window window;
      window.begin = since;
      window.end = end;
      window.optimizer = open == kOptimizer;
      window.id = kGraphWindow;
      phases.windows.push_back(std::move(window));
    }
  };
  for (const model::CounterSample& sample : run.counters) {
    if (sample.process != process || run.Text(sample.name) != kCounterName) continue;
    close(sample.event);
    open = sample.value;
    since = sample.event;
  }
  close(run.event_count());
  return phases;
}

}  // namespace vramscope::timeline
