// SPDX-License-Identifier: Apache-2.0
// Aligns the clocks of different hosts, and finds ranks that are late on the aligned clock.
//
// Ranks that train together wait for each other in every step: the collectives of backward end on all ranks
// within about a millisecond. So step N ends at the same time on all of them, even if their clocks differ.
//
//   step ends by the clock of the host      node-0 10.0  11.0  12.0      node-1 13.1  14.1  15.1
//   node-1 is 3.1 s ahead in every step, so its clock is ahead. After subtraction both end together.
//   A rank that is 0.4 s behind the others on its own host is late itself: they share one clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fleet/rank_summary.h"

namespace vramscope::fleet {

struct HostClock {
  std::string host;  // "" = unknown
  uint32_t ranks = 0;
  int64_t offset_ns = 0;     // how far this clock is ahead of the first host's
  double drift_ppm = 0;      // how much faster it runs than the first host's, in millionths
  uint64_t residual_ns = 0;  // the median distance between a step's end and its predicted end
  uint32_t steps = 0;        // number of compared steps
};

struct Timing {
  // The median time by which the rank's steps end after the median rank's, by the aligned clock; negative =
  // earlier. nullopt for a rank without step times.
  std::optional<int64_t> behind_ns;
  // Steps that the median rank had finished and this rank had not, when the median rank ended its last step.
  uint32_t steps_behind = 0;
};

struct Clocks {
  std::vector<HostClock> hosts;  // in order of their first rank
  std::vector<Timing> ranks;     // by index into the summaries
  uint64_t step_ns = 0;          // the median time from the end of a step to the end of the next
};

[[nodiscard]] Clocks AlignClocks(const std::vector<RankSummary>& ranks);

}  // namespace vramscope::fleet
