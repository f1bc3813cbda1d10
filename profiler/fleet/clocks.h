// SPDX-License-Identifier: Apache-2.0
// Aligns the clocks of different hosts, and finds ranks that are late on the aligned clock.
//
// Ranks that train together wait for each other. Therefore step N ends on all ranks within about one
// millisecond, even if the clocks of their hosts show different times.
//
//   end of steps by the host's clock (s)    node-0 10.0  11.0  12.0      node-1 13.1  14.1  15.1
//   In every step, node-1 is 3.1 s ahead. Therefore its clock is 3.1 s ahead. Without this lead, the steps of
//   both hosts end together. Ranks of one host share one clock: if one of them ends its steps 0.4 s after the
//   others, that rank is late.
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
  int64_t offset_ns = 0;     // how far this clock is ahead of the first host's clock
  double drift_ppm = 0;      // how much faster than the first host's clock, in millionths
  uint64_t residual_ns = 0;  // median distance between a step's end and its predicted end
  uint32_t steps = 0;        // number of compared steps
};

struct Timing {
  // How much later this rank ends a step than the median rank (median of all steps); negative = earlier.
  std::optional<int64_t> behind_ns;
  // Number of steps that the median rank has finished and this rank has not.
  uint32_t steps_behind = 0;
};

struct Clocks {
  std::vector<HostClock> hosts;  // in order of their first rank
  std::vector<Timing> ranks;     // one entry for each element of `ranks` of AlignClocks()
  uint64_t step_ns = 0;          // median time from one step's end to the next
};

[[nodiscard]] Clocks AlignClocks(const std::vector<RankSummary>& ranks);

}  // namespace vramscope::fleet
