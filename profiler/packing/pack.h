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

// How far the time sufficed.
enum class Reached : uint8_t {
  kAsTheyCome,  // best fit in the order of their times
  kFirstFit,    // in one order at least
  kSearch,
};

struct Answer {
  uint64_t lower_bound =
      0;  // no packing is lower: the most bytes alive at one time, or what the search proved
  Packing packing;
  uint64_t first_fit_height = 0;  // before the search
  double seconds = 0;
  Reached reached = Reached::kAsTheyCome;
  [[nodiscard]] bool optimal() const { return packing.height == lower_bound; }
};

// Best fit in the order of times, first fit in three other orders, then SectionSearch for lower and lower
// heights until the time is up, whichever of them that is in. What is not bounded: sorting the items, a
// second for some millions.
[[nodiscard]] Answer Pack(std::span<const Item> items, const Limits& limits);

}  // namespace vramscope::packing
