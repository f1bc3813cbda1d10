// SPDX-License-Identifier: Apache-2.0
// Aligns the clocks of different hosts, and finds ranks that are late on the aligned clock.
//
// Ranks that train together wait for each other. So step N ends on all ranks within about a millisecond, even
// if their clocks differ.
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
  int64_t offset_ns = 0;     // lead over the first host's clock
  double drift_ppm = 0;      // how much faster than the first host's clock, in millionths
  uint64_t residual_ns = 0;  // median distance between a step's end and its predicted end
  uint32_t steps = 0;        // compared steps
};

struct Timing {
  // Median delay of the rank's steps after the median rank's; negative = earlier.
  std::optional<int64_t> behind_ns;
  // Steps that the median rank had finished and this rank had not.
  uint32_t steps_behind = 0;
};

struct Clocks {
  std::vector<HostClock> hosts;  // in order of their first rank
  std::vector<Timing> ranks;     // by index into the summaries
  uint64_t step_ns = 0;          // median time from one step's end to the next
};

[[nodiscard]] Clocks AlignClocks(const std::vector<RankSummary>& ranks);

}  // namespace vramscope::fleet
