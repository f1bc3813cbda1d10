// SPDX-License-Identifier: Apache-2.0
// The program's own ranges (NVTX, record_function, module forwards) as lanes below the timeline. Nested
// ranges lie below outer ones.
//
//   NVTX      ├──────── step 3 ────────┤├──────── step 4 ──
//             ├─ forward ─┤├ backward ─┤├─ forward ─┤             one lane for each depth of each thread
//   modules   ├ layers.0 ┤┤┤                                      below a pixel: one piece for all of them
//
// Ranges of one lane do not overlap. A pixel costs O(log n), however many ranges lie in it.
#pragma once

#include <string>
#include <vector>

#include "profiler/timeline/curve.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// One rectangle: `count` ranges of a lane, from number `first`.
struct LanePiece {
  size_t first = 0;
  size_t count = 0;
  double x0 = 0;  // pixels from the window's left edge; x1 - x0 >= 1
  double x1 = 0;
};

class RangeLanes {
 public:
  struct Lane {
    trace::RangeKind kind{};
    model::ThreadIndex thread = 0;
    size_t depth = 0;              // from 0
    std::vector<uint32_t> ranges;  // into Run::ranges, in order of time
    // Starts in nanoseconds: three times as fast as bisecting through the run.
    std::vector<double> begins;
    std::vector<double> ends;
  };

  RangeLanes() = default;
  // For one process. `run` must outlive it. O(n log n).
  RangeLanes(const model::Run& run, model::ProcessIndex process);

  // NVTX, then scopes, then modules; within these by thread.
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  // Ranges nested deeper than the lanes.
  [[nodiscard]] size_t left_out() const { return left_out_; }

  // Visible pieces of a lane in a window of `width` pixels, left to right, at most two per pixel.
  [[nodiscard]] std::vector<LanePiece> Pieces(size_t lane, const TimeView& view, double width) const;

  // In nanoseconds. An unfinished range lasts to the trace's end.
  [[nodiscard]] double BeginOf(uint32_t range) const;
  [[nodiscard]] double EndOf(uint32_t range) const;

 private:
  const model::Run* run_ = nullptr;
  std::vector<Lane> lanes_;
  size_t left_out_ = 0;
};

[[nodiscard]] const char* LaneTitle(trace::RangeKind kind);  // "NVTX"

// A range's duration and effect on memory, as in report::NamedRange.
struct RangeFacts {
  std::string name;
  uint64_t duration_ns = 0;
  timeline::Peak peak;  // within
  int64_t growth = 0;   // allocated bytes from begin to end
  bool ended = true;    // within the trace
};
[[nodiscard]] RangeFacts FactsOf(const model::Run& run, const timeline::DeviceCurve& curve, uint32_t range);

}  // namespace vramscope::viewer
