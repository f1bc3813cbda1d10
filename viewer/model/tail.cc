// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/tail.h"

#include <algorithm>

namespace vramscope::viewer {
namespace {

constexpr double kBetweenLooks = 0.5;  // seconds
constexpr double kBetweenReads = 1;
constexpr double kRestPerRead = 2;  // the pause after a read, as a multiple of its duration
constexpr double kStillLive = 10;

}  // namespace

void Tail::Loaded(double now, uint64_t bytes, double took, bool finished) {
  follow_ = !finished;
  loaded_bytes_ = bytes;
  seen_bytes_ = std::max(seen_bytes_, bytes);
  next_look_ = now;
  next_read_ = now + std::max(kBetweenReads - took, kRestPerRead * took);
}

bool Tail::Grown(double now, uint64_t bytes) {
  next_look_ = now + kBetweenLooks;
  if (bytes > seen_bytes_) {
    seen_bytes_ = bytes;
    last_growth_ = now;
    has_grown_ = true;
  }
  return bytes > loaded_bytes_ && now >= next_read_;
}

bool Tail::live(double now) const { return follow_ && has_grown_ && now < last_growth_ + kStillLive; }

}  // namespace vramscope::viewer
