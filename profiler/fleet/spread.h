// SPDX-License-Identifier: Apache-2.0
// The spread of figures that should be equal on all ranks.
//
// Why median and MAD (median distance from the median): one extreme rank would shift mean and standard
// deviation, and no longer look unusual.
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
  // Values further than this from the median stand out: six standard deviations (estimated from the MAD), and
  // at least 2 % of the median.
  [[nodiscard]] uint64_t limit() const;
  [[nodiscard]] bool StandsOut(uint64_t value) const;
};

// `values`: in any order. All members are 0 without values.
[[nodiscard]] Spread SpreadOf(std::vector<uint64_t> values);

// The lower median; 0 without values.
[[nodiscard]] int64_t MedianOf(std::vector<int64_t> values);

}  // namespace vramscope::fleet
