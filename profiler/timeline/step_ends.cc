// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/step_ends.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/timeline/graph_phases.h"

namespace vramscope::timeline {
namespace {

using model::EventIndex;

// The address, and its number among the optimizers there: after an optimizer is freed, another may get its
// address.
using Identity = std::pair<uint64_t, uint32_t>;

// Calls visit for the process's marks of finished optimizer steps.
template <typename Visit>
void ForEachStep(const model::Run& run, model::ProcessIndex process, const Visit& visit) {
  for (const uint32_t index : run.processes[process].marks) {
    const model::Mark& mark = run.marks[index];
    if (mark.kind == trace::MarkKind::kOptimizerStepDone) visit(mark);
  }
}

// Each optimizer counts its steps. If the count at an address does not increase, it is a different optimizer.
class Identities {
 public:
  Identities(const model::Run& run, model::ProcessIndex process) {
    ForEachStep(run, process, [&](const model::Mark& mark) {
      std::vector<Counted>& steps = steps_[mark.tensor];
      uint32_t which = steps.empty() ? 0 : steps.back().which;
      if (!steps.empty() && mark.value <= steps.back().count) ++which;
      steps.push_back({mark.event, mark.value, which});
    });
  }

  // The optimizer at this address that finishes the first step from event `from` on, else the last one there.
  [[nodiscard]] Identity Of(uint64_t address, EventIndex from) const {
    const auto known = steps_.find(address);
    if (known == steps_.end()) return {address, 0};
    const std::vector<Counted>& steps = known->second;
    const auto next = std::lower_bound(steps.begin(), steps.end(), from,
                                       [](const Counted& step, EventIndex at) { return step.event < at; });
    return {address, next == steps.end() ? steps.back().which : next->which};
  }

  [[nodiscard]] bool AreKnownAt(uint64_t address) const { return steps_.contains(address); }

  // True if the optimizer at this address finished a step between these events.
  [[nodiscard]] bool Finished(uint64_t address, EventIndex from, EventIndex until) const {
    const auto known = steps_.find(address);
    return known != steps_.end() && std::ranges::any_of(known->second, [&](const Counted& step) {
             return step.event >= from && step.event < until;
           });
  }

 private:
  struct Counted {
    EventIndex event;
    uint64_t count;
    uint32_t which;
  };
  std::map<uint64_t, std::vector<Counted>> steps_;
};

// One call of an optimizer's step().
struct OptimizerStep {
  Identity optimizer;
  EventIndex begin = 0;
  EventIndex end = 0;
  bool raised = false;
};

struct Optimizer {
  Identity id;
  EventIndex first = 0;  // begin of its first step
  EventIndex last = 0;   // begin of its last one
  size_t steps = 0;
};

// Collects the steps of outermost optimizers in order (a wrapper's step contains the step of the optimizer it
// wraps). A step inside a backward pass (optimizer-in-backward) ends with that pass.
void CollectSteps(const std::vector<Window>& windows, const Identities& identities, EventIndex end_around,
                  std::vector<OptimizerStep>& steps) {
  for (const Window& window : windows) {
    const EventIndex end = std::max(window.end, end_around);
    if (window.id == kGraphWindow) continue;
    if (window.optimizer) {
      steps.push_back({identities.Of(window.id, window.begin), window.begin, end});
    } else {
      CollectSteps(window.inside, identities, end, steps);
    }
  }
}

// True if each step() that returns is marked. The shim does this for Python, and its coverage shows that it
// is present. Without it, only an optimizer with marks is known to have them.
bool MarksSteps(const model::Run& run, model::ProcessIndex process) {
  return std::any_of(run.coverage.begin(), run.coverage.end(), [&](const auto& hook) {
    return hook.process == process && hook.hook == "python.optimizer" &&
           hook.state == trace::CoverageState::kProven;
  });
}

// Removes steps that raised: those without a mark before the optimizer's next step or the end of the trace.
void LeaveOutRaised(const Identities& identities, bool all_marked, std::vector<OptimizerStep>& steps) {
  std::map<uint64_t, EventIndex> next_begin;  // by address
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const auto [next, last] = next_begin.try_emplace(step->optimizer.first, model::kNever);
    const uint64_t address = step->optimizer.first;
    step->raised = (all_marked || identities.AreKnownAt(address)) &&
                   !identities.Finished(address, step->begin, next->second);
    next->second = step->begin;
  }
  std::erase_if(steps, [](const OptimizerStep& step) { return step.raised; });
}

std::vector<OptimizerStep> StepsFromMarks(const model::Run& run, model::ProcessIndex process,
                                          const Identities& identities) {
  std::vector<OptimizerStep> steps;
  ForEachStep(run, process, [&](const model::Mark& mark) {
    steps.push_back({identities.Of(mark.tensor, mark.event), mark.event, mark.event + 1});
  });
  return steps;
}

std::vector<Optimizer> ByFirstStep(const std::vector<OptimizerStep>& steps) {
  std::map<Identity, Optimizer> by_id;
  for (const OptimizerStep& step : steps) {
    Optimizer& optimizer = by_id[step.optimizer];
    if (optimizer.steps++ == 0) optimizer = {step.optimizer, step.begin, step.begin, 1};
    optimizer.last = step.begin;
  }
  std::vector<Optimizer> optimizers;
  for (const auto& [id, optimizer] : by_id) optimizers.push_back(optimizer);
  std::sort(optimizers.begin(), optimizers.end(),
            [](const Optimizer& a, const Optimizer& b) { return a.first < b.first; });
  return optimizers;
}

// The optimizers that end the steps of each loop. A loop is a group of optimizers whose times overlap.
std::vector<Identity> EndingOptimizers(const std::vector<Optimizer>& optimizers) {
  std::vector<Identity> ending;
  for (size_t i = 0; i < optimizers.size();) {
    EventIndex loop_last = optimizers[i].last;
    size_t rarest = i;
    size_t next = i + 1;
    for (; next < optimizers.size() && optimizers[next].first < loop_last; ++next) {
      loop_last = std::max(loop_last, optimizers[next].last);
      if (optimizers[next].steps <= optimizers[rarest].steps) rarest = next;
    }
    ending.push_back(optimizers[rarest].id);
    i = next;
  }
  std::sort(ending.begin(), ending.end());
  return ending;
}

std::vector<EventIndex> EndsOf(const std::vector<OptimizerStep>& steps) {
  const std::vector<Identity> ending = EndingOptimizers(ByFirstStep(steps));
  std::vector<EventIndex> ends;
  for (const OptimizerStep& step : steps) {
    if (std::binary_search(ending.begin(), ending.end(), step.optimizer)) ends.push_back(step.end);
  }
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace

StepEnds FindStepEnds(const model::Run& run, model::ProcessIndex process, const TrainingWindows& windows) {
  const Identities identities(run, process);
  std::vector<OptimizerStep> steps;
  CollectSteps(windows.outermost, identities, 0, steps);
  if (!steps.empty()) {
    LeaveOutRaised(identities, MarksSteps(run, process), steps);
    return {EndsOf(steps), StepEnds::Source::kOptimizerWindows};
  }
  steps = StepsFromMarks(run, process, identities);
  if (!steps.empty()) return {EndsOf(steps), StepEnds::Source::kOptimizerMarks};
  StepEnds result;
  for (const Window& backward : windows.outermost) {
    if (backward.id != kGraphWindow) result.ends.push_back(backward.end);
  }
  if (!result.ends.empty()) result.source = StepEnds::Source::kBackwardWindows;
  return result;
}

}  // namespace vramscope::timeline
