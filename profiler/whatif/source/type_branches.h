// SPDX-License-Identifier: Apache-2.0
// What a recording tells of branches of the program that ask for a tensor's type: docs/trace-format.md.
//
// Those of a known form are put into the step (half_only.h). Of others it is known where they are: where
// surely something else is done a change is refused, where that is not sure it says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// `what`: the label's name. One that is not known is left out: it is of a newer recorder.
void AddTypeBranch(Step& step, TypeBranch branch, std::string_view what);

// `changed`: the step in 16 bits of `type`, or under autocast to it. Leaves in it those branches that would
// go another way. An error when one of them surely does something else.
[[nodiscard]] Result<Step> KnownBranches(const Step& step, Step changed, uint8_t type);

// What is to be said of those that are left.
void TellOtherBranches(const Step& changed, Outcome& outcome);

}  // namespace vramscope::whatif
