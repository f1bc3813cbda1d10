// SPDX-License-Identifier: Apache-2.0
// The spread of the peers' peaks in each step, to find the step from which a rank differs.
//
//   step             1     2     3     4
//   three peers      2.0   2.0   2.0   2.0 GiB
//   the rank         2.0   2.0   3.1   3.1 GiB     stands out since step 3
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/fleet/job.h"
#include "profiler/fleet/spread.h"

namespace vramscope::fleet {

class StepSpreads {
 public:
  // `job` must have its groups and outlive this object.
  explicit StepSpreads(const Job& job) : job_(job) {}

  // The step from which the rank's peak stands out in every step until the last one. 0 if it stands out from
  // the first step, or not in the last one.
  [[nodiscard]] uint32_t StandsOutSince(size_t rank);

 private:
  struct StepSpread {
    uint32_t number = 0;
    Spread peak;
  };

  const std::vector<StepSpread>& Of(size_t group);

  const Job& job_;
  std::map<size_t, std::vector<StepSpread>> of_group_;  // sorted by number
};

}  // namespace vramscope::fleet
