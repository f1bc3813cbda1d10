// SPDX-License-Identifier: Apache-2.0
// Verifies a plan before it is printed: with a re-run of the recorded program, or with the command itself on
// the simulated GPU.
//
// The search judges plans by predicted upper bounds before a re-run, and by the predictions before a
// measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "profiler/experiment/try/try_run.h"
#include "profiler/plan/plan.h"

namespace vramscope::cli {

using experiment::Change;

struct Verified {
  std::string why_not;   // why there is no measured figure, as part of a sentence; "" = measured
  bool refuted = false;  // the run failed or does not fit
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t at_most_bytes = 0;  // upper bound of reserved bytes; must fit
  uint64_t device_used_bytes = 0;
};

// The change in the form of `vramscope try`. The error explains what cannot be applied from outside.
Result<Change> ChangeOf(const plan::Changes& changes);

// Runs `command` on the simulated `gpu`.
Verified Verify(const plan::Changes& changes, const std::vector<std::string>& command,
                const collector::GpuModel& gpu);

// Measures each plan.
using Measure = std::function<std::vector<Verified>(std::span<const plan::Changes>)>;

// `plans`: plans within the limit. A plan that cannot be measured counts with its predicted upper bound.
// `left_out`: plans that were refuted.
struct VerifiedPlans {
  plan::Answer plans;
  std::map<std::string, Verified> verified;  // by plan::TextOf of the changes
  std::vector<std::pair<plan::Changes, Verified>> left_out;
};
// Measures up to 16 plans. `question.need.bound`: whether the search uses bounds.
VerifiedPlans FindVerifiedPlans(const whatif::Step& step, const whatif::Baseline& baseline,
                                plan::Request question, const Measure& measure);

// Splits a recorded command line into words. Fails if `may_run` is false, or if the words cannot be
// separated.
Result<std::vector<std::string>> RecordedCommand(const std::string& command_line, bool may_run);

}  // namespace vramscope::cli
