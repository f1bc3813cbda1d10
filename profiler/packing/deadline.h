// SPDX-License-Identifier: Apache-2.0
// The deadline of a search for a packing. It can be checked very often, because it rarely reads the clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace vramscope::packing {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(Clock::time_point end) : end_(end) {}

  // True if the deadline has passed. `work`: approximate number of operations since the last call. Reads the
  // clock once per 65,536 operations, which take about a tenth of a millisecond.
  [[nodiscard]] bool Passed(uint64_t work = 1) {
    work_ += work;
    if (passed_ || work_ < kBetweenLooks) return passed_;
    work_ = 0;
    return passed_ = Clock::now() >= end_;
  }

 private:
  static constexpr uint64_t kBetweenLooks = uint64_t{1} << 16;

  Clock::time_point end_;
  uint64_t work_ = kBetweenLooks;  // so that the first call reads the clock
  bool passed_ = false;
};

}  // namespace vramscope::packing
