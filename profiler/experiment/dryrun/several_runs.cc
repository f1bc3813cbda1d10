// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/several_runs.h"

#include <algorithm>
#include <utility>

namespace vramscope::experiment {
namespace {

bool ReadsSizes(const DryrunResult& result) {
  return std::ranges::any_of(result.data_reads, &DataRead::sizes);
}

// The assumption of the first run; nullopt: values that no kernel computes are 0.
std::optional<AssumedValues> FirstAssumption(const DryrunPlan& plan) {
  if (!plan.masks && !plan.balanced_routing) return std::nullopt;
  return AssumedValues{plan.masks.value_or(0), plan.balanced_routing.value_or(true)};
}

// If memory depends on data: runs again with masks that select everything.
void AddUpperBound(const DryrunPlan& plan, DryrunRunner& runner, DryrunResult& result) {
  if (plan.masks || result.Verdict() != true || !ReadsSizes(result)) return;
  if (plan.say) plan.say("Memory depends on data here. The command runs again to find the upper bound.");
  const RunVariant full = {0, FullMasks(plan), false};
  const Result<DryrunResult> other =
      runner.Run(plan.command, plan.device, CommandOutput::kToFile, nullptr, full);
  if (!other.ok()) return;
  result.upper = OtherBound{*full.assumed, other->Verdict(), other->answer.peak.allocated_bytes,
                            other->PeakReserved(), other->ledger.peak_bytes};
}

Result<DryrunResult> RunOnce(const DryrunPlan& plan, DryrunRunner& runner, CommandOutput output) {
  Result<DryrunResult> result =
      runner.Run(plan.command, plan.device, output, nullptr, {0, FirstAssumption(plan), true});
  if (!result.ok() || !result->MayNeedIntegers()) return result;
  if (plan.say)
    plan.say(
        "The command failed after it read values that no kernel computes here. It runs again with computed "
        "integers.");
  Result<DryrunResult> again =
      runner.Run(plan.command, plan.device, output, nullptr, {0, FullMasks(plan), true});
  return again.ok() && again->FailedOtherwise() ? result : again;
}

}  // namespace

Result<DryrunResult> RunWithBounds(const DryrunPlan& plan, DryrunRunner& runner, CommandOutput output) {
  DryrunResult result = VRAMSCOPE_TRY(RunOnce(plan, runner, output));
  AddUpperBound(plan, runner, result);
  return result;
}

Series::Series(const DryrunPlan& plan, DryrunRunner& runner)
    : plan_(plan), runner_(runner), assumed_(FirstAssumption(plan)) {}

Result<DryrunResult> Series::Run(const std::vector<std::string>& command,
                                 const collector::SimulatedDevice& device, uint64_t order, std::string& log) {
  Result<DryrunResult> result =
      runner_.Run(command, device, CommandOutput::kToFile, &log, {order, assumed_, true});
  if (result.ok() && result->MayNeedIntegers()) {
    assumed_ = FullMasks(plan_);
    result = runner_.Run(command, device, CommandOutput::kToFile, &log, {order, assumed_, true});
  }
  if (result.ok() && DependsOnMasks(*result)) TakeUpperBound(command, device, order, *result);
  return result;
}

bool Series::DependsOnMasks(const DryrunResult& result) const {
  return !plan_.masks && !result.assumed && result.Verdict() == true && ReadsSizes(result);
}

// Replaces `result` by the upper bound: a statement about many runs must hold for any data. If the command
// fails with full masks, `result` stays the lower bound.
void Series::TakeUpperBound(const std::vector<std::string>& command, const collector::SimulatedDevice& device,
                            uint64_t order, DryrunResult& result) {
  Result<DryrunResult> full =
      runner_.Run(command, device, CommandOutput::kToFile, nullptr, {order, FullMasks(plan_), true});
  if (!full.ok() || !full->Verdict()) return;
  assumed_ = FullMasks(plan_);
  result = std::move(*full);
}

}  // namespace vramscope::experiment
