// SPDX-License-Identifier: Apache-2.0
// When a search must end: asked in every loop, without asking the clock each time.
#pragma once

#include <chrono>
#include <cstdint>

namespace vramscope::packing {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(Clock::time_point end) : end_(end) {}

  // Whether it is over. `work`: about how many operations were done since the last call; the clock is looked
  // at after every 65,536, about a tenth of a millisecond.
  [[nodiscard]] bool Passed(uint64_t work = 1) {
    work_ += work;
    if (passed_ || work_ < kBetweenLooks) return passed_;
    work_ = 0;
    return passed_ = Clock::now() >= end_;
  }

 private:
  static constexpr uint64_t kBetweenLooks = uint64_t{1} << 16;

  Clock::time_point end_;
  uint64_t work_ = kBetweenLooks;  // the first call looks
  bool passed_ = false;
};

}  // namespace vramscope::packing
