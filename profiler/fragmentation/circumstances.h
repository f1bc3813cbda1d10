// SPDX-License-Identifier: Apache-2.0
// Explains an out-of-memory error by what the program did before: memory that it kept from every step, memory
// that was left by earlier out-of-memory errors, and known requests that would have followed.
//
//   in the program   memory found                             meaning
//   steps 1 to 11    128 MiB kept from each step              growth: no allocator setting helps for long
//   failed attempt   its activations are still allocated      a caught exception holds its frames
//   Adam, step 1     11 of 16 state tensors are allocated     4 requests of known sizes would have followed
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
  uint64_t grows_per_step = 0;         // bytes per step, total of `growth`
  uint64_t needed_beside = 0;          // highest peak of a step, minus the growth until that step; bytes

  uint64_t left_by_failures = 0;  // bytes that were allocated before an earlier error and are still alive
  uint64_t failures = 0;          // number of earlier errors that left such bytes

  std::vector<uint64_t> upcoming;  // bytes of each request that would have followed in the optimizer's step
  std::string upcoming_of;         // what these requests are for: "exp_avg, exp_avg_sq of 3 parameters"

  // Returns how many further steps fit into `room` bytes if memory grows as before and is not fragmented.
  [[nodiscard]] uint64_t StepsMore(uint64_t room) const {
    const uint64_t taken = needed_beside + grown;
    return grows_per_step == 0 || room < taken ? 0 : (room - taken) / grows_per_step;
  }
};

// `failure`: the event of the out-of-memory error. `requested`: bytes of the failed request. O(blocks).
[[nodiscard]] Circumstances CircumstancesOf(const classify::Analysis& analysis, model::DeviceIndex device,
                                            model::EventIndex failure, uint64_t requested);

}  // namespace vramscope::fragmentation
