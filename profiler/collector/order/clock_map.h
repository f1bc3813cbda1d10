// SPDX-License-Identifier: Apache-2.0
// From a target's clock to CLOCK_MONOTONIC, piecewise linear and never backwards.
//
// Why: reading the time stamp counter costs the target 10 ns, clock_gettime 27 ns, and it is read for every
// record. The collector pays instead: each drain pass takes one anchor (both clocks at one moment), and ticks
// between two anchors are interpolated. A frequency measured once would drift away from CLOCK_MONOTONIC,
// which the kernel slews by up to 500 ppm.
//
//   ns │              ╱ a2        between anchors: a straight line
//      │         ╱ a1             after the last: its slope goes on (such records wait for the next pass)
//      │    ╱ a0                  before the first: its slope goes back
//      └──────────────── ticks
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

// Reads both clocks, a few times if it was interrupted between them; exact to some 20 ns. Loads of shared
// memory that follow in the program happen after it.
ClockAnchor TakeAnchor();

class ClockMap {
 public:
  explicit ClockMap(ClockAnchor first) : anchors_{first} {}

  // Anchors that do not advance on both clocks are ignored, so the map stays strictly increasing.
  void Add(ClockAnchor anchor);

  // CLOCK_MONOTONIC at `ticks` of a clock of that kind. Non-decreasing in `ticks`. Amortized O(1) for ticks
  // that rise.
  [[nodiscard]] uint64_t ToMonotonicNs(trace::ClockKind kind, uint64_t ticks) const;

 private:
  // Backlog older than this many passes (5 s at the slowest) is rare: it is extrapolated.
  static constexpr size_t kMaxAnchors = 256;

  std::vector<ClockAnchor> anchors_;
  mutable size_t segment_ = 0;  // the segment of the last question
};

}  // namespace vramscope::collector
