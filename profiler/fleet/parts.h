// SPDX-License-Identifier: Apache-2.0
// Joins the parts of one recording (`record --keep`) into one rank, instead of one rank for each file.
//
//   run.part1.vms       steps 1 to 40     ┐
//   run.parts.vms.summary  steps 1 to 900 ├─► rank 3: steps 1 to 912, its highest peak, its end
//   run.vms             steps 899 to 912  ┘
#pragma once

#include <vector>

#include "profiler/fleet/rank_summary.h"

namespace vramscope::fleet {

// Appends the part `later` to `rank`. For a step that is in both, the figures in `rank` are kept: a part
// begins with the last step of the previous part, and may contain only the end of that step for some
// processes.
void AddPart(RankSummary later, RankSummary& rank);

// Joins the parts of each recording, whatever their order. Ranks that are not parts stay as they are.
void JoinParts(std::vector<RankSummary>& ranks);

}  // namespace vramscope::fleet
