// SPDX-License-Identifier: Apache-2.0
// Finds how many values ago a value last occurred in a column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::trace {

class RepeatFinder {
 public:
  // Returns how many values ago `value` last occurred (1 = the one before; 0 = never), and then adds it.
  // After 5, 7, 5 the results were 0, 0, 2.
  uint64_t DistanceTo(uint64_t value);
  void Clear();

 private:
  struct Slot {
    uint64_t value = 0;
    uint64_t position = 0;  // counted from 1; 0 = empty
  };
  size_t SlotOf(uint64_t value) const;
  void Grow();

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t used_ = 0;
  uint64_t given_ = 0;
};

}  // namespace vramscope::trace
