// SPDX-License-Identifier: Apache-2.0
// A table of values by id. Ids come in runs: 1, 2, 3, ..., with gaps in a damaged file.
//
// An id is untrusted: a large one must not force a large vector.
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
  // Adds values for the ids `first`, `first` + 1, ... Ignored if ids overlap earlier ones or exceed 32 bits.
  void AddRun(uint64_t first, std::vector<T> values) {
    if (values.empty() || first > std::numeric_limits<uint32_t>::max()) return;
    if (runs_.empty() || first > runs_.back().end()) {
      runs_.push_back({first, std::move(values)});
    } else if (first == runs_.back().end()) {
      std::vector<T>& last = runs_.back().values;
      last.insert(last.end(), values.begin(), values.end());
    }
  }

  // The value of `id`, or T() if it was not defined. O(log runs).
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
  std::vector<Run> runs_;  // ascending
};

}  // namespace vramscope::trace
