// SPDX-License-Identifier: Apache-2.0
// Finds how far back in a column a value last occurred. The writer uses the distance to compress repeated
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::trace {

class RepeatFinder {
 public:
  // Returns how many values ago `value` last occurred, and then appends `value`. 1 = the previous value, 0 =
  // never. For 5, 7, 5, the results are 0, 0, 2.
  uint64_t DistanceTo(uint64_t value);
  void Clear();

 private:
  struct Slot {
    uint64_t value = 0;
    uint64_t position = 0;  // 1-based position in the column; 0 = the slot is empty
  };
  size_t SlotOf(uint64_t value) const;
  void Grow();

  std::vector<Slot> slots_;  // a power of two in size, at most half of it used
  size_t used_ = 0;
  uint64_t given_ = 0;
};

}  // namespace vramscope::trace
