// SPDX-License-Identifier: Apache-2.0
// The words of a plan, for the command and the viewer.
#pragma once

#include <string>

#include "profiler/plan/plan.h"

namespace vramscope::plan {

// "--batch 8 --amp bf16"; "as it is" if there are no changes.
std::string PlanOptions(const Changes& changes);
// The time added to a step: "1.4 ms"; "none"; "open" if unknown; "1.4 ms, open" if partly unknown.
std::string PlanTime(const Verdict& verdict);
// True if the added time of any change is known.
bool IsTimed(const Verdict& verdict);

}  // namespace vramscope::plan
