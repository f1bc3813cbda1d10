// SPDX-License-Identifier: Apache-2.0
// The parts of one recording (`record --keep`) put together again: one rank instead of one for each file.
//
//   run.part1.vms       steps 1 to 40     ┐
//   run.parts.vms.summary  steps 1 to 900 ├─► rank 3: steps 1 to 912, its highest peak, its end
//   run.vms             steps 899 to 912  ┘
#pragma once

#include <vector>

#include "profiler/fleet/rank_summary.h"

namespace vramscope::fleet {

// `later` continues `rank`. A step that both have keeps its first figures: a part begins with the last step of
// the part before, of which other processes may have only the end.
void AddPart(RankSummary later, RankSummary& rank);

// Joins the parts of each recording, whatever their order. Ranks that are not parts stay as they are.
void JoinParts(std::vector<RankSummary>& ranks);

}  // namespace vramscope::fleet
