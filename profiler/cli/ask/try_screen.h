// SPDX-License-Identifier: Apache-2.0
// What `vramscope try` answers, as text and as JSON: the command without and with the change, side by side.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/ask/try_prediction.h"
#include "profiler/cli/ask/try_run.h"
#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

// Everything that was asked for was done, at least in part of the program.
bool AllApplied(const std::vector<Outcome>& outcomes);

std::string TryText(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted,
                    const Terminal& terminal);
std::string TryJson(const TryPlan& plan, const Measured& before, const Measured& after,
                    const std::vector<Outcome>& outcomes, const Predicted& predicted);

// What was not applied, why, and the lines to write; "" when there is nothing to say. For runs that were not
// made as well.
std::string NotAppliedText(const TryPlan& plan, const std::vector<Outcome>& outcomes,
                           const Predicted& predicted);

}  // namespace vramscope::cli
