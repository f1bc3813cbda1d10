// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/rerun_plans.h"

#include <algorithm>
#include <set>
#include <utility>

namespace vramscope::plan {
namespace {

// With these, training reaches the same result except for rounding. Other changes are a person's choice.
const Changes kTried = {{"amp", "bf16"}, {"accumulate", "2"}, {"accumulate", "4"}};

bool RerunFits(const Verdict& verdict, uint64_t limit) { return verdict.possible && verdict.needed <= limit; }

void PrepareAll(const Request& request, Reruns& reruns) {
  std::vector<Changes> all;
  for (const whatif::Asked& change : kTried) {
    if (!Allowed(request.levers, change.lever)) continue;
    all.push_back({change});
    if (Allowed(request.levers, "checkpoint")) all.push_back({change, {"checkpoint", "all"}});
  }
  reruns.Prepare(all);
}

}  // namespace

Verdict RerunVerdict(const whatif::Step& step, Reruns& reruns, Changes changes) {
  Verdict verdict;
  Result<whatif::Prediction> prediction = reruns.Predict(changes);
  verdict.changes = std::move(changes);
  verdict.possible = verdict.replayed = prediction.ok() && prediction->refused.empty();
  if (!verdict.possible) return verdict;
  verdict.prediction = std::move(prediction).value();
  verdict.needed = verdict.prediction.band.ReservedAtMost(verdict.prediction.after.allocator.reserved_peak);
  double ns = 0;
  for (const whatif::Applied& lever : verdict.prediction.levers) ns += lever.outcome.extra_ns;
  verdict.rank = RankOf(step, verdict.changes, ns);
  return verdict;
}

void AddRerunPlans(const whatif::Step& step, const Request& request, Reruns& reruns, Answer& answer) {
  if (answer.fits_already || answer.plans.size() >= request.top) return;
  PrepareAll(request, reruns);
  std::set<std::string> found;  // levers whose smallest change fits
  for (const whatif::Asked& change : kTried) {
    if (answer.plans.size() >= request.top || found.contains(change.lever)) continue;
    if (!Allowed(request.levers, change.lever)) continue;
    Verdict verdict = RerunVerdict(step, reruns, {change});
    if (verdict.possible && !RerunFits(verdict, request.limit) && Allowed(request.levers, "checkpoint"))
      verdict = RerunVerdict(step, reruns, {change, {"checkpoint", "all"}});
    if (!RerunFits(verdict, request.limit)) continue;
    found.insert(change.lever);
    answer.plans.push_back({std::move(verdict), true, 0});
  }
  std::stable_sort(answer.plans.begin(), answer.plans.end(),
                   [](const Plan& a, const Plan& b) { return a.verdict.rank < b.verdict.rank; });
}

}  // namespace vramscope::plan
