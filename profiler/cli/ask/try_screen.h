// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope try` as text and as JSON: the command without and with the change, side by side.
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

// True if everything requested was applied, at least in a part of the program.
bool AllApplied(const std::vector<Outcome>& outcomes);

std::string TryText(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted,
                    const Terminal& terminal);
std::string TryJson(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted);

// Describes what was not applied, why, and the lines to write. "" if there is nothing to report. Also for a
// run that failed.
std::string NotAppliedText(const TryPlan& plan, const std::vector<Outcome>& outcomes,
                           const Predicted& predicted);

}  // namespace vramscope::cli
