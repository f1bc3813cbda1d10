// SPDX-License-Identifier: Apache-2.0
// Aligns the clocks of different hosts, and finds ranks that are late on the aligned clock.
//
// Ranks that train together wait for each other in every step: the collectives of backward end everywhere
// within about a millisecond. So step N ends at one time on all of them, whatever their clocks say.
//
//   step ends by the clock of the host      node-0 10.0  11.0  12.0      node-1 13.1  14.1  15.1
//   node-1 is 3.1 s ahead, at every step: its clock. Subtracted, both end together.
//   A rank that is 0.4 s behind the others of its own host is late itself: the host has one clock.
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
  int64_t offset_ns = 0;     // ahead of the first host
  double drift_ppm = 0;      // how much it gains on the first host: millionths
  uint64_t residual_ns = 0;  // the median distance of a step's end from what offset and drift say
  uint32_t steps = 0;        // that were compared
};

struct Timing {
  // How much later its steps end than those of the median rank, by the aligned clock; negative = earlier.
  // nullopt for a rank that shares no step with others.
  std::optional<int64_t> behind_ns;
  uint32_t steps_behind = 0;  // that the median rank had finished when it ended, and this one had not
};

struct Clocks {
  std::vector<HostClock> hosts;  // in order of their first rank
  std::vector<Timing> ranks;     // by index into the summaries
  uint64_t step_ns = 0;          // the median time from the end of a step to the end of the next
};

[[nodiscard]] Clocks AlignClocks(const std::vector<RankSummary>& ranks);

}  // namespace vramscope::fleet
