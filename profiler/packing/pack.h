// SPDX-License-Identifier: Apache-2.0
// Packs blocks with known lifetimes and sizes into as little address space as possible (their height), within
// a given time. Also computes a lower bound that no packing can be below.
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

// The last stage of Pack() that began before the time was up.
enum class Reached : uint8_t {
  kAsTheyCome,  // best fit in order of time
  kFirstFit,    // first fit, completed in at least one order
  kSearch,      // SectionSearch
};

struct Answer {
  // The height in bytes that no packing can be below.
  uint64_t lower_bound = 0;
  Packing packing;
  uint64_t first_fit_height = 0;  // height of the best packing before SectionSearch
  double seconds = 0;
  Reached reached = Reached::kAsTheyCome;
  [[nodiscard]] bool optimal() const { return packing.height == lower_bound; }
};

// Runs best fit in order of time, then first fit in three other orders, then SectionSearch for lower and
// lower heights. Stops when the time is up, except while it sorts: sorting a few million items takes a
// second.
[[nodiscard]] Answer Pack(std::span<const Item> items, const Limits& limits);

}  // namespace vramscope::packing
