// SPDX-License-Identifier: Apache-2.0
// Finds the step from which a rank's peak differs from the peaks of the other ranks in its group.
//
//   step             1     2     3     4
//   other ranks      2.0   2.0   2.0   2.0 GiB
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
  // `job.groups` must be filled. `job` must outlive this object.
  explicit StepSpreads(const Job& job) : job_(job) {}

  // Returns the number of the step since which the rank's peak has been an outlier in every step (spread.h).
  // Returns 0 if the peak is an outlier in all steps, or not in the last step.
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
