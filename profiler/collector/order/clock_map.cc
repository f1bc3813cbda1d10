// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/clock_map.h"

#include <time.h>

#include <algorithm>
#include <limits>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace vramscope::collector {
namespace {

constexpr uint64_t kUninterruptedNs = 100;
constexpr int kAnchorTries = 5;

// Fenced on both sides: otherwise the counter might be read before earlier loads or after later ones.
uint64_t Ticks() {
#if defined(__x86_64__)
  _mm_lfence();
  const uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
#else
  return MonotonicNs();
#endif
}

// The line through `from` and `to` at `ticks`, at or after `from`.
uint64_t Along(const ClockAnchor& from, const ClockAnchor& to, uint64_t ticks) {
  const auto rise = static_cast<double>(to.monotonic_ns - from.monotonic_ns);
  const auto run = static_cast<double>(to.ticks - from.ticks);
  const double offset = static_cast<double>(ticks - from.ticks) * (rise / run);
  // Invalid ticks of a broken ring also end here. The reader of rings recognizes them by their distance from
  // now.
  constexpr double kFarFuture = 9e18;
  if (offset + static_cast<double>(from.monotonic_ns) > kFarFuture) return static_cast<uint64_t>(kFarFuture);
  return from.monotonic_ns + static_cast<uint64_t>(offset);
}

uint64_t Before(const ClockAnchor& from, const ClockAnchor& to, uint64_t ticks) {
  const auto rise = static_cast<double>(to.monotonic_ns - from.monotonic_ns);
  const auto run = static_cast<double>(to.ticks - from.ticks);
  const double offset = static_cast<double>(from.ticks - ticks) * (rise / run);
  if (offset >= static_cast<double>(from.monotonic_ns)) return 0;
  return from.monotonic_ns - static_cast<uint64_t>(offset);
}

}  // namespace

uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

ClockAnchor TakeAnchor() {
  ClockAnchor best;
  uint64_t best_width = std::numeric_limits<uint64_t>::max();
  for (int i = 0; i < kAnchorTries && best_width > kUninterruptedNs; ++i) {
    const uint64_t before = MonotonicNs();
    const uint64_t ticks = Ticks();
    const uint64_t width = MonotonicNs() - before;
    if (width >= best_width) continue;
    best = {ticks, before + width / 2};
    best_width = width;
  }
#if !defined(__x86_64__)
  best.ticks = best.monotonic_ns;
#endif
  return best;
}

void ClockMap::Add(ClockAnchor anchor) {
  const ClockAnchor& last = anchors_.back();
  if (anchor.ticks <= last.ticks || anchor.monotonic_ns <= last.monotonic_ns) return;
  if (anchors_.size() == kMaxAnchors) {
    anchors_.erase(anchors_.begin(), anchors_.begin() + kMaxAnchors / 2);
    segment_ = 0;
  }
  anchors_.push_back(anchor);
}

uint64_t ClockMap::ToMonotonicNs(trace::ClockKind kind, uint64_t ticks) const {
  if (kind == trace::ClockKind::kMonotonic) return ticks;
  if (anchors_.size() < 2) return anchors_.front().monotonic_ns;
  const size_t last_segment = anchors_.size() - 2;
  if (ticks < anchors_[segment_].ticks ||
      (ticks >= anchors_[segment_ + 1].ticks && segment_ < last_segment)) {
    const auto after = std::upper_bound(anchors_.begin(), anchors_.end(), ticks,
                                        [](uint64_t value, const ClockAnchor& a) { return value < a.ticks; });
    const auto at = static_cast<size_t>(after - anchors_.begin());
    segment_ = std::clamp<size_t>(at, 1, last_segment + 1) - 1;
  }
  const ClockAnchor& from = anchors_[segment_];
  const ClockAnchor& to = anchors_[segment_ + 1];
  return ticks < from.ticks ? Before(from, to, ticks) : Along(from, to, ticks);
}

}  // namespace vramscope::collector
