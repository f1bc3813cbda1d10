// SPDX-License-Identifier: Apache-2.0
// The best packing that can be found in a given time, and how good it can be at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "profiler/packing/instance.h"

namespace vramscope::packing {

struct Limits {
  std::chrono::nanoseconds budget = std::chrono::seconds(5);  // of wall time
  double good_enough = 0;  // stops when the height is at most this share above the lower bound
  uint64_t seed = 1;       // of the search; the same seed and enough time give the same answer
};

struct Answer {
  uint64_t lower_bound =
      0;  // no packing is lower: the most bytes alive at one time, or what the search proved
  Packing packing;
  uint64_t first_fit_height = 0;  // before the search
  double seconds = 0;
  [[nodiscard]] bool optimal() const { return packing.height == lower_bound; }
};

// First fit in three orders, then SectionSearch for lower and lower heights until the time is up. First fit
// is always finished, whatever the budget: 100,000 blocks take less than a second.
[[nodiscard]] Answer Pack(std::span<const Item> items, const Limits& limits);

}  // namespace vramscope::packing
