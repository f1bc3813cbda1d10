// SPDX-License-Identifier: Apache-2.0
// The words of a plan, as the command and the viewer show them.
#pragma once

#include <string>

#include "profiler/plan/plan.h"

namespace vramscope::plan {

// "--batch 8 --amp bf16"; "as it is" of no changes.
std::string PlanOptions(const Changes& changes);
// What a step takes longer: "1.4 ms", "none", "open" where another training cannot be timed.
std::string PlanTime(const Verdict& verdict);
// Whether any of its changes is known to take time.
bool IsTimed(const Verdict& verdict);

}  // namespace vramscope::plan
