// SPDX-License-Identifier: Apache-2.0
// A tree that finds the lowest and highest value in any interval of a series, without reading every value.
//
// The owner of the tree divides the series into groups. Level 0 contains the extremes of these groups. Each
// node of a higher level contains the extremes of sixteen nodes below it. A query reads at most 30 nodes per
// level.
//
//   10,000 groups         levels of 10,000, 625, 40 and 3 nodes
//   groups [5, 9990)      17 reads on level 0, 15 on level 1, 22 on level 2, 1 on level 3
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace vramscope::timeline {

// The lowest and highest value of an interval. An empty interval has low > high.
struct Extremes {
  int64_t low = std::numeric_limits<int64_t>::max();
  int64_t high = std::numeric_limits<int64_t>::min();
  uint32_t high_at = 0;  // position of the first highest value, in a unit that the owner chooses

  [[nodiscard]] bool empty() const { return low > high; }
  void Add(int64_t value, uint32_t at) {
    low = std::min(low, value);
    if (value > high) {
      high = value;
      high_at = at;
    }
  }
  // `later` must come after this interval in the series.
  void Merge(const Extremes& later) {
    low = std::min(low, later.low);
    if (later.high > high) {
      high = later.high;
      high_at = later.high_at;
    }
  }
};

class MinMaxTree {
 public:
  MinMaxTree() = default;
  explicit MinMaxTree(std::vector<Extremes> groups) {
    levels_.push_back(std::move(groups));
    while (levels_.back().size() > kRadix) {
      const std::vector<Extremes>& below = levels_.back();
      std::vector<Extremes> level((below.size() + kRadix - 1) / kRadix);
      for (size_t i = 0; i < below.size(); ++i) level[i / kRadix].Merge(below[i]);
      levels_.push_back(std::move(level));
    }
  }

  // Returns the extremes of the groups [first, last).
  [[nodiscard]] Extremes Within(size_t first, size_t last) const { return Within(first, last, 0); }

 private:
  static constexpr size_t kRadix = 16;

  [[nodiscard]] Extremes Within(size_t first, size_t last, size_t level) const {
    Extremes all;
    const size_t first_whole = (first + kRadix - 1) / kRadix;
    const size_t last_whole = last / kRadix;
    if (level + 1 >= levels_.size() || first_whole >= last_whole) {
      for (size_t i = first; i < last; ++i) all.Merge(levels_[level][i]);
      return all;
    }
    for (size_t i = first; i < first_whole * kRadix; ++i) all.Merge(levels_[level][i]);
    all.Merge(Within(first_whole, last_whole, level + 1));
    for (size_t i = last_whole * kRadix; i < last; ++i) all.Merge(levels_[level][i]);
    return all;
  }

  std::vector<std::vector<Extremes>> levels_;
};

}  // namespace vramscope::timeline
