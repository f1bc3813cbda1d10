// SPDX-License-Identifier: Apache-2.0
// The best packing that can be found in a given time, and a bound on any packing.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "profiler/packing/instance.h"

namespace vramscope::packing {

struct Limits {
  std::chrono::nanoseconds budget = std::chrono::seconds(5);  // wall time
  double good_enough = 0;  // stop if the height is at most this fraction above the lower bound
  uint64_t seed = 1;       // of the search; with enough time, the same seed gives the same answer
};

// The stage that the search reached in time.
enum class Reached : uint8_t {
  kAsTheyCome,  // best fit in order of time
  kFirstFit,    // in at least one order
  kSearch,
};

struct Answer {
  // No packing is lower.
  uint64_t lower_bound = 0;
  Packing packing;
  uint64_t first_fit_height = 0;  // before the search
  double seconds = 0;
  Reached reached = Reached::kAsTheyCome;
  [[nodiscard]] bool optimal() const { return packing.height == lower_bound; }
};

// Runs best fit in order of time, first fit in three other orders, then SectionSearch for ever lower heights.
// Stops when the time is up. Sorting is not limited: it takes a second for a few million items.
[[nodiscard]] Answer Pack(std::span<const Item> items, const Limits& limits);

}  // namespace vramscope::packing
