// SPDX-License-Identifier: Apache-2.0
// Verifies memory-saving plans before they are printed. A plan is verified by a re-run of the recorded
// program, or by running the user's command on the simulated GPU.
//
// Until a plan is verified, the search compares a prediction with the limit. If a re-run will verify the
// plan, the search compares the predicted upper bound. If a run of the command will verify it, the search
// compares the prediction itself.
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
  std::string why_not;   // reason why there is no measured figure, for use in a sentence; "" = measured
  bool refuted = false;  // the run failed or does not fit
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t at_most_bytes = 0;  // upper bound of reserved bytes; a plan fits if this is within the limit
  uint64_t device_used_bytes = 0;
};

// Converts the changes of a plan into the form that `vramscope try` takes. The error explains which change
// cannot be applied from outside the program.
Result<Change> ChangeOf(const plan::Changes& changes);

// Runs `command` with `changes` on the simulated `gpu`, and measures its memory.
Verified Verify(const plan::Changes& changes, const std::vector<std::string>& command,
                const collector::GpuModel& gpu);

// A function that measures each of the given plans, and returns one result per plan.
using Measure = std::function<std::vector<Verified>(std::span<const plan::Changes>)>;

// Result of FindVerifiedPlans. `plans` are within the limit; for a plan that could not be measured, the
// predicted upper bound is within the limit. `left_out` are plans that were measured and do not fit, or whose
// run failed.
struct VerifiedPlans {
  plan::Answer plans;
  std::map<std::string, Verified> verified;  // by plan::TextOf of the changes
  std::vector<std::pair<plan::Changes, Verified>> left_out;
};
// Searches for plans and measures up to 16 of them. `question.need.bound` = true: the search uses predicted
// upper bounds.
VerifiedPlans FindVerifiedPlans(const whatif::Step& step, const whatif::Baseline& baseline,
                                plan::Request question, const Measure& measure);

// Splits a recorded command line into words. Fails if `may_run` is false, or if the words cannot be
// separated.
Result<std::vector<std::string>> RecordedCommand(const std::string& command_line, bool may_run);

}  // namespace vramscope::cli
