// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/recorded_steps.h"

#include <algorithm>
#include <map>

namespace vramscope::whatif {
namespace {

// Calls of modules from the program itself, in order: not from another module, and not while one runs on
// another thread.
std::vector<model::Range> OutermostCalls(const model::Run& run, model::ProcessIndex process) {
  std::vector<model::Range> calls;
  for (const uint32_t index : run.processes[process].ranges) {
    const model::Range& range = run.ranges[index];
    if (range.kind != trace::RangeKind::kModule) continue;
    if (calls.empty() || range.begin >= calls.back().end) calls.push_back(range);
  }
  return calls;
}

// The module that is called least often. If there are several, the one whose first call is last: a decoder
// comes after its encoder.
uint32_t EndingModule(const std::vector<model::Range>& calls) {
  std::map<uint32_t, size_t> counts;
  std::vector<uint32_t> names;  // in order of their first call
  for (const model::Range& call : calls) {
    if (++counts[call.name] == 1) names.push_back(call.name);
  }
  return *std::min_element(names.rbegin(), names.rend(),
                           [&](uint32_t a, uint32_t b) { return counts[a] < counts[b]; });
}

std::vector<timeline::Step> CallsOf(const model::Run& run, model::ProcessIndex process) {
  std::vector<timeline::Step> steps;
  const std::vector<model::Range> calls = OutermostCalls(run, process);
  if (calls.empty()) return steps;
  const uint32_t ending = EndingModule(calls);
  model::EventIndex begin = calls.front().begin;
  for (const model::Range& call : calls) {
    if (call.name != ending) continue;
    const bool complete = call.end != model::kNever;
    const model::EventIndex end = complete ? call.end + 1 : run.event_count();
    steps.push_back({static_cast<uint32_t>(steps.size() + 1), begin, end, complete, true});
    begin = end;
  }
  return steps;
}

}  // namespace

Result<LoopSteps> ChooseSteps(const classify::Analysis& analysis, model::ProcessIndex process) {
  const std::vector<timeline::Step>& training = analysis.training()[process].steps();
  const std::vector<timeline::Step> steps = training.empty() ? CallsOf(analysis.run(), process) : training;
  const timeline::Step* chosen = nullptr;
  bool any_deep = false;
  for (const timeline::Step& step : steps) {
    any_deep |= step.deep;
    if (step.deep && step.complete && step.number >= 2) chosen = &step;
  }
  if (steps.empty())
    return Error{
        "this run has no training step to change. What-if needs a run that calls an optimizer, or a run "
        "recorded with --depth all that only runs its model forward."};
  if (chosen == nullptr) {
    return Error{any_deep ? "no deep step after the first one is complete. Record at least 4 steps."
                          : "no step was recorded with its operators. Record again with --depth auto, and at "
                            "least 4 steps."};
  }
  return LoopSteps{steps.front(), chosen == steps.data() ? *chosen : *(chosen - 1), *chosen};
}

void TakeFacts(const trace::Metadata& facts, Step& step) {
  const auto take = [&facts](std::string& into, std::initializer_list<const char*> names) {
    for (const char* const name : names)
      if (const auto found = facts.find(name); found != facts.end()) into = found->second;
  };
  take(step.torch_version, {"torch.version"});
  take(step.settings, {"env.PYTORCH_ALLOC_CONF", "env.PYTORCH_CUDA_ALLOC_CONF", "program.pytorch_alloc_conf",
                       "program.pytorch_cuda_alloc_conf"});
}

}  // namespace vramscope::whatif
