// SPDX-License-Identifier: Apache-2.0
// Explains a failed request by what the program did: memory kept from every step, memory left by earlier
// failures, and further requests of the phase.
//
//   in the program   memory found                             meaning
//   steps 1 to 11    128 MiB kept from each step              growth: no allocator setting helps for long
//   failed attempt   its activations are still allocated      a caught exception holds its frames
//   Adam, step 1     11 of 16 state tensors are allocated     4 requests of known sizes follow the failed one
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/growth/growth.h"

namespace vramscope::fragmentation {

struct Circumstances {
  std::vector<growth::Growth> growth;  // most bytes per step first
  uint64_t grown = 0;                  // total bytes of `growth` so far
  uint64_t grows_per_step = 0;
  uint64_t needed_beside = 0;  // highest peak of a step, without the growth up to that step

  uint64_t left_by_failures = 0;  // bytes left by earlier failed attempts
  uint64_t failures = 0;          // failures that left something

  std::vector<uint64_t> upcoming;  // requests that follow in the phase, in bytes
  std::string upcoming_of;         // "exp_avg, exp_avg_sq of 3 parameters"

  // Further steps whose growth fits into `room` bytes without fragmentation.
  [[nodiscard]] uint64_t StepsMore(uint64_t room) const {
    const uint64_t taken = needed_beside + grown;
    return grows_per_step == 0 || room < taken ? 0 : (room - taken) / grows_per_step;
  }
};

// For a request of `requested` bytes that failed at event `failure`. O(blocks).
[[nodiscard]] Circumstances CircumstancesOf(const classify::Analysis& analysis, model::DeviceIndex device,
                                            model::EventIndex failure, uint64_t requested);

}  // namespace vramscope::fragmentation
