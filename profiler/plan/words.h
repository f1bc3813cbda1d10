// SPDX-License-Identifier: Apache-2.0
// Texts of a plan, for `vramscope plan` and the viewer.
#pragma once

#include <string>

#include "profiler/plan/plan.h"

namespace vramscope::plan {

// Returns "--batch 8 --amp bf16", or "as it is" if there are no changes.
std::string PlanOptions(const Changes& changes);
// Returns the time that the plan adds to a step: "1.4 ms", or "none". Returns "open" if the time is unknown,
// and "1.4 ms, open" if only a part is known.
std::string PlanTime(const Verdict& verdict);
// True if the added time is known for at least one change.
bool IsTimed(const Verdict& verdict);

}  // namespace vramscope::plan
