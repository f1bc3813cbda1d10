// SPDX-License-Identifier: Apache-2.0
// Formats the answer of `vramscope try` as text and as JSON. The answer compares two runs of the command:
// without the change (`before`) and with it (`after`).
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/try/try_prediction.h"
#include "profiler/experiment/try/try_run.h"

namespace vramscope::cli {

using experiment::Measured;
using experiment::Outcome;
using experiment::Predicted;
using experiment::TryPlan;

// True if every requested change was applied, at least to a part of the program.
bool AllApplied(const std::vector<Outcome>& outcomes);

std::string TryText(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted,
                    const Terminal& terminal);
std::string TryJson(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted);

// Lists the changes that were not applied, with the reasons and the code lines that the user can write
// instead. Returns "" if all were applied. Also valid for a run that failed.
std::string NotAppliedText(const TryPlan& plan, const std::vector<Outcome>& outcomes,
                           const Predicted& predicted);

}  // namespace vramscope::cli
