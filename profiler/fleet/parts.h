// SPDX-License-Identifier: Apache-2.0
// Joins the parts of one recording (`record --keep`) into one rank.
//
//   run.part1.vms       steps 1 to 40     ┐
//   run.parts.vms.summary  steps 1 to 900 ├─► rank 3: steps 1 to 912, its highest peak, its end
//   run.vms             steps 899 to 912  ┘
#pragma once

#include <vector>

#include "profiler/fleet/rank_summary.h"

namespace vramscope::fleet {

// Adds the part `later` to `rank`. If both contain a step, keeps the figures in `rank`, because a part may
// contain only the end of its first step.
void AddPart(RankSummary later, RankSummary& rank);

// Joins the parts of each recording. `ranks` may contain them in any order. Ranks without parts are not
// changed.
void JoinParts(std::vector<RankSummary>& ranks);

}  // namespace vramscope::fleet
