// SPDX-License-Identifier: Apache-2.0
// Converts a target's clock to CLOCK_MONOTONIC: piecewise linear, never backwards.
//
// Why: the target reads a clock for every record. The time stamp counter costs 10 ns, clock_gettime 27 ns.
// Each drain pass takes one anchor (both clocks at one moment). Ticks between two anchors are interpolated.
//
//   ns │              ╱ a2        between anchors: a straight line
//      │         ╱ a1             after the last: its slope goes on (such records wait for the next pass)
//      │    ╱ a0                  before the first: its slope goes back
//      └──────────────── ticks
//
//   anchors (1,000 ticks, 500 ns) and (3,000 ticks, 1,500 ns):   2,000 ticks -> 1,000 ns, 4,000 -> 2,000 ns
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace_format/ring.h"

namespace vramscope::collector {

// One moment on both clocks. On machines without a time stamp counter `ticks` is `monotonic_ns`.
struct ClockAnchor {
  uint64_t ticks = 0;
  uint64_t monotonic_ns = 0;
};

uint64_t MonotonicNs();

// Reads both clocks. Exact to about 20 ns. Loads of shared memory that follow the call are not moved before
// it.
ClockAnchor TakeAnchor();

class ClockMap {
 public:
  explicit ClockMap(ClockAnchor first) : anchors_{first} {}

  // Anchors that do not advance on both clocks are ignored.
  void Add(ClockAnchor anchor);

  // CLOCK_MONOTONIC at `ticks`. Non-decreasing in `ticks`. Amortized O(1) for increasing ticks.
  [[nodiscard]] uint64_t ToMonotonicNs(trace::ClockKind kind, uint64_t ticks) const;

 private:
  // One per pass: 5 s at the slowest rate. Times of older records are extrapolated.
  static constexpr size_t kMaxAnchors = 256;

  std::vector<ClockAnchor> anchors_;
  mutable size_t segment_ = 0;  // the segment of the last lookup
};

}  // namespace vramscope::collector
