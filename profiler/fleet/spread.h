// SPDX-License-Identifier: Apache-2.0
// The spread of figures that should be equal on all ranks: how far apart they are, and which ones stand out.
//
// Why median and MAD (the median distance from the median), not mean and standard deviation: one rank with
// twice the memory shifts the mean and increases the deviation, so it no longer looks unusual.
//
//   8.0 8.1 8.0 8.0 8.1 8.0 8.1 11.2 GiB: median 8.05, MAD 0.05, spread (11.2 - 8.0) / 8.05 = 40 %
//   limit max(6 x 1.4826 x 0.05, 2 % of 8.05) = 0.44: only the last one stands out
#pragma once

#include <cstdint>
#include <vector>

namespace vramscope::fleet {

struct Spread {
  uint64_t lowest = 0;
  uint64_t highest = 0;
  uint64_t median = 0;
  uint64_t mad = 0;

  // (highest - lowest) / median; 0 if the median is 0.
  [[nodiscard]] double share() const;
  // Values further than this from the median stand out: six standard deviations, estimated from the MAD as
  // for a normal distribution, and at least 2 % of the median.
  [[nodiscard]] uint64_t limit() const;
  [[nodiscard]] bool StandsOut(uint64_t value) const;
};

// `values` may be in any order. All members are 0 if there are no values.
[[nodiscard]] Spread SpreadOf(std::vector<uint64_t> values);

// The median; for an even number of values the lower of the two middle ones. 0 if there are no values.
[[nodiscard]] int64_t MedianOf(std::vector<int64_t> values);

}  // namespace vramscope::fleet
