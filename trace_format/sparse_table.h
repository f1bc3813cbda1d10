// SPDX-License-Identifier: Apache-2.0
// A table of values by id. Most ids are consecutive (1, 2, 3, ...), but a damaged file may have gaps.
//
// Ids come from untrusted files, so a large id must not cause a large allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace vramscope::trace {

template <typename T>
class SparseTable {
 public:
  // Adds values for the ids `first`, `first` + 1, ... Does nothing if one of the ids was added before, or is
  // larger than 32 bits.
  void AddRun(uint64_t first, std::vector<T> values) {
    if (values.empty() || first > std::numeric_limits<uint32_t>::max()) return;
    if (runs_.empty() || first > runs_.back().end()) {
      runs_.push_back({first, std::move(values)});
    } else if (first == runs_.back().end()) {
      std::vector<T>& last = runs_.back().values;
      last.insert(last.end(), values.begin(), values.end());
    }
  }

  // Returns the value of `id`, or T() if the id has no value. O(log runs).
  T At(uint64_t id) const {
    const auto after = std::ranges::upper_bound(runs_, id, {}, &Run::first);
    if (after == runs_.begin()) return T();
    const Run& run = *std::prev(after);
    return id < run.end() ? run.values[static_cast<size_t>(id - run.first)] : T();
  }

 private:
  struct Run {
    uint64_t first;
    std::vector<T> values;
    uint64_t end() const { return first + values.size(); }
  };
  std::vector<Run> runs_;  // in ascending order of ids
};

}  // namespace vramscope::trace
