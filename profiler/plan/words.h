// SPDX-License-Identifier: Apache-2.0
// The words of a plan, as the command and the viewer show them.
#pragma once

#include <string>

#include "profiler/plan/plan.h"

namespace vramscope::plan {

// "--batch 8 --amp bf16"; "as it is" if there are no changes.
std::string PlanOptions(const Changes& changes);
// How much longer a step takes: "1.4 ms"; "none"; "open" if it is unknown; "1.4 ms, open" if a part of it is
// unknown.
std::string PlanTime(const Verdict& verdict);
// True if the added time of any of its changes is known.
bool IsTimed(const Verdict& verdict);

}  // namespace vramscope::plan
