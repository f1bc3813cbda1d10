// SPDX-License-Identifier: Apache-2.0
// A plan made to happen before it is told: by a re-run of the recorded program, or by the command once more
// on the simulated GPU with the plan's changes, as `vramscope try --dry` applies them.
//
// Where the command is measured, the search looks at predictions without their bound: a bound leaves out
// plans that fit. A re-run has a bound of its own, so the search keeps to bounds, and seldom has to search
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "profiler/cli/ask/try_run.h"
#include "profiler/plan/plan.h"

namespace vramscope::cli {

struct Verified {
  std::string why_not;   // it could not be run so; empty = it was; a part of a sentence
  bool refuted = false;  // it was run, and does not work or does not fit
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t at_most_bytes = 0;  // reserved; what must fit
  uint64_t device_used_bytes = 0;
};

// As `vramscope try` is asked for the same; an error says what cannot be applied from outside.
Result<Change> ChangeOf(const plan::Changes& changes);

// Runs `command` on the simulated `gpu`.
Verified Verify(const plan::Changes& changes, const std::vector<std::string>& command,
                const collector::GpuModel& gpu);

// Measures each of these, in one go where that is quicker.
using Measure = std::function<std::vector<Verified>(std::span<const plan::Changes>)>;

// Plans that measured no more than the limit of `question`, or of which their bound is told since they cannot
// be measured; what was refuted on the way.
struct VerifiedPlans {
  plan::Answer plans;
  std::map<std::string, Verified> verified;  // of each, by plan::TextOf its changes
  std::vector<std::pair<plan::Changes, Verified>> left_out;
};
// Measures up to 16 plans. `question.need.bound`: whether the search keeps to bounds.
VerifiedPlans FindVerifiedPlans(const whatif::Step& step, const whatif::Baseline& baseline,
                                plan::Request question, const Measure& measure);

// The words of a recorded command line, to be run; an error that shows it when it `may_run` not, and when
// they cannot be told apart.
Result<std::vector<std::string>> RecordedCommand(const std::string& command_line, bool may_run);

}  // namespace vramscope::cli
