// SPDX-License-Identifier: Apache-2.0
// Finds outliers among figures that should be equal on all ranks, such as the peak of allocated bytes.
//
// The computation uses the median and the MAD (median distance from the median). One extreme rank would
// change mean and standard deviation so much that the rank would no longer look unusual.
//
//   8.0 8.1 8.0 8.0 8.1 8.0 8.1 11.2 GiB: median 8.05, MAD 0.05, spread (11.2 - 8.0) / 8.05 = 40 %
//   limit max(6 x 1.4826 x 0.05, 2 % of 8.05) = 0.44: only 11.2 stands out
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
  // Returns the distance from the median above which a value stands out: six standard deviations (estimated
  // from the MAD), but at least 2 % of the median.
  [[nodiscard]] uint64_t limit() const;
  [[nodiscard]] bool StandsOut(uint64_t value) const;
};

// `values`: in any order. If `values` is empty, all members are 0.
[[nodiscard]] Spread SpreadOf(std::vector<uint64_t> values);

// Returns the median, or the lower of the two middle values. Returns 0 if `values` is empty.
[[nodiscard]] int64_t MedianOf(std::vector<int64_t> values);

}  // namespace vramscope::fleet
