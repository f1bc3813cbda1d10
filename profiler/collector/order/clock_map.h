// SPDX-License-Identifier: Apache-2.0
// Converts the clock of a recorded process to CLOCK_MONOTONIC. The conversion is piecewise linear and never
// goes backwards.
//
// The recorded process reads a clock for every record. Reading the time stamp counter costs 10 ns,
// clock_gettime costs 27 ns. Therefore records have ticks of the time stamp counter. Each drain pass of the
// collector takes one anchor: it reads both clocks at one moment. Ticks between two anchors are interpolated.
//
//   ns │              ╱ a2        between anchors: a straight line
//      │         ╱ a1             after the last anchor: the last slope continues
//      │    ╱ a0                  before the first anchor: the first slope continues
//      └──────────────── ticks
//
//   anchors (1,000 ticks, 500 ns) and (3,000 ticks, 1,500 ns):   2,000 ticks -> 1,000 ns, 4,000 -> 2,000 ns
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace_format/ring.h"

namespace vramscope::collector {

// One moment on both clocks. On machines without a time stamp counter, `ticks` is equal to `monotonic_ns`.
struct ClockAnchor {
  uint64_t ticks = 0;
  uint64_t monotonic_ns = 0;
};

uint64_t MonotonicNs();

// Reads both clocks, exact to about 20 ns. The CPU does not execute later loads of shared memory before this
// call.
ClockAnchor TakeAnchor();

class ClockMap {
 public:
  explicit ClockMap(ClockAnchor first) : anchors_{first} {}

  // Anchors that do not advance on both clocks are ignored.
  void Add(ClockAnchor anchor);

  // Returns CLOCK_MONOTONIC in ns at `ticks`. The result never decreases if `ticks` increases. Amortized O(1)
  // for increasing ticks.
  [[nodiscard]] uint64_t ToMonotonicNs(trace::ClockKind kind, uint64_t ticks) const;

 private:
  // One anchor per drain pass: at the slowest rate, the anchors cover 5 s. Times of older records are
  // extrapolated.
  static constexpr size_t kMaxAnchors = 256;

  std::vector<ClockAnchor> anchors_;
  mutable size_t segment_ = 0;  // the segment of the last lookup
};

}  // namespace vramscope::collector
