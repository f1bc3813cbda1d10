// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/savings.h"

#include <algorithm>

#include "profiler/experiment/answer.h"
#include "profiler/experiment/kept_savings.h"
#include "profiler/experiment/recorded_step.h"
#include "profiler/whatif/answer/predict.h"

namespace vramscope::experiment {
namespace {

using report::Saving;
using report::Savings;
using whatif::Applied;
using whatif::Asked;
using whatif::Baseline;
using whatif::Prediction;

struct UsualChange {
  const char* title;
  const char* cost;
  std::vector<Asked> asked;
};

// The most useful first: for a very large step only the first few are computed.
const std::vector<UsualChange>& UsualChanges() {
  static const std::vector<UsualChange> questions = {
      {"checkpoint=all", "blocks are recomputed in backward", {{"checkpoint", "all"}}},
      {"optimizer=sgd", "another optimizer", {{"optimizer", "sgd"}}},
      {"alloc-conf=expandable_segments:True",
       "a setting of PyTorch's allocator",
       {{"alloc-conf", "expandable_segments:True"}}},
      {"checkpoint=every:2", "every second block is recomputed in backward", {{"checkpoint", "every:2"}}},
      {"optimizer=momentum", "another optimizer", {{"optimizer", "momentum"}}},
      {"empty-cache=after-step",
       "each step allocates its segments from the driver again",
       {{"empty-cache", "after-step"}}},
  };
  return questions;
}

// Each change costs some 3 us per block: four steps through the allocator's model.
constexpr size_t kMostBlocksAsked = 100'000;

Saving SavingOf(const UsualChange& question, const Prediction& prediction) {
  Saving saving;
  saving.title = question.title;
  saving.cost = question.cost;
  saving.kind = NameOf(AnswerKind::kTransformed);
  saving.levers = question.asked.size();
  saving.allocated = prediction.after.allocator.allocated_peak;
  saving.reserved = prediction.after.allocator.reserved_peak;
  saving.phase = prediction.after.peak.phase;
  double extra_ns = 0;
  bool timed = false;
  for (const Applied& applied : prediction.levers) {
    if (!applied.outcome.code.empty()) saving.code.push_back(applied.outcome.code);
    saving.notes.insert(saving.notes.end(), applied.outcome.notes.begin(), applied.outcome.notes.end());
    extra_ns += applied.outcome.extra_ns;
    timed |= !applied.outcome.time_basis.empty();
  }
  if (timed) saving.extra_ns = static_cast<uint64_t>(extra_ns);
  return saving;
}

}  // namespace

std::optional<Savings> FindSavings(const classify::Analysis& analysis, model::DeviceIndex device,
                                   const std::string& path) {
  if (trace::DeviceTypeOf(analysis.run().devices[device].code) == 0) return std::nullopt;
  const Result<whatif::Step> step = ReadStepWithProgram(analysis, device);
  if (!step.ok() || step->blocks.size() > kMostBlocksAsked) return std::nullopt;
  const Result<Baseline> baseline = whatif::MakeBaseline(*step, analysis);
  if (!baseline.ok()) return std::nullopt;
  const whatif::Replayed& before = baseline->use.allocator;
  Savings savings{step->number, before.allocated_peak, before.reserved_peak, {}, {}};
  const size_t most = kMostBlocksAsked / std::max<size_t>(step->blocks.size(), 1);
  for (const UsualChange& question : UsualChanges()) {
    if (static_cast<size_t>(&question - UsualChanges().data()) >= most) break;
    const Result<Prediction> prediction = whatif::Predict(*step, *baseline, question.asked);
    if (!prediction.ok() || !prediction->refused.empty()) continue;
    const whatif::Replayed& after = prediction->after.allocator;
    if (after.allocated_peak == before.allocated_peak && after.reserved_peak == before.reserved_peak)
      continue;
    savings.cases.push_back(SavingOf(question, *prediction));
  }
  if (!path.empty()) savings.reruns = KeptSavings(*analysis.run().source, path, *baseline);
  std::stable_sort(savings.cases.begin(), savings.cases.end(), report::TakesLess);
  std::stable_sort(savings.reruns.begin(), savings.reruns.end(), report::TakesLess);
  return savings;
}

}  // namespace vramscope::experiment
