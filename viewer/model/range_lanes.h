// SPDX-License-Identifier: Apache-2.0
// The program's own ranges (NVTX, record_function, module forwards) as lanes below the timeline. Nested
// ranges lie below outer ones.
//
//   NVTX      ├──────── step 3 ────────┤├──────── step 4 ──
//             ├─ forward ─┤├ backward ─┤├─ forward ─┤             one lane for each thread and nesting depth
//   modules   ├ layers.0 ┤┤┤                                      ranges below a pixel share one piece
//
// Ranges of one lane do not overlap. Drawing costs O(log n) per pixel, even if many ranges lie in the pixel.
#pragma once

#include <string>
#include <vector>

#include "profiler/timeline/curve.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// One rectangle on the screen. The rectangle represents `count` ranges of a lane, beginning with index
// `first`.
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
    size_t depth = 0;              // nesting depth, from 0
    std::vector<uint32_t> ranges;  // indices in Run::ranges, in order of time
    // Begin and end times in nanoseconds. With these copies, searching is three times as fast as searching in
    // the run.
    std::vector<double> begins;
    std::vector<double> ends;
  };

  RangeLanes() = default;
  // Creates the lanes of one process. `run` must outlive this object. O(n log n).
  RangeLanes(const model::Run& run, model::ProcessIndex process);

  // The lanes: first NVTX, then record_function scopes, then modules; lanes of one kind are sorted by thread.
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  // Number of ranges that are nested too deeply to have a lane.
  [[nodiscard]] size_t left_out() const { return left_out_; }

  // Returns the visible pieces of a lane in a window of `width` pixels, from left to right, at most two per
  // pixel.
  [[nodiscard]] std::vector<LanePiece> Pieces(size_t lane, const TimeView& view, double width) const;

  // Begin and end of a range in nanoseconds. An unfinished range ends at the trace's end.
  [[nodiscard]] double BeginOf(uint32_t range) const;
  [[nodiscard]] double EndOf(uint32_t range) const;

 private:
  const model::Run* run_ = nullptr;
  std::vector<Lane> lanes_;
  size_t left_out_ = 0;
};

[[nodiscard]] const char* LaneTitle(trace::RangeKind kind);  // such as "NVTX"

// A range's duration and effect on memory, as in report::NamedRange.
struct RangeFacts {
  std::string name;
  uint64_t duration_ns = 0;
  timeline::Peak peak;  // highest allocated bytes during the range
  int64_t growth = 0;   // allocated bytes at the end minus those at the begin
  bool ended = true;    // false: the range does not end within the trace
};
[[nodiscard]] RangeFacts FactsOf(const model::Run& run, const timeline::DeviceCurve& curve, uint32_t range);

}  // namespace vramscope::viewer
