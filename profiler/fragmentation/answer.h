// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope frag`, as plain data: terminal, JSON and picture print this and compute nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fragmentation/measure.h"
#include "profiler/fragmentation/subject.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// A block that was freed and that another stream may still use.
struct WaitingBlock {
  Block block;
  BlockText text;
  uint64_t stream = 0;  // its own: a handle
  // Those of the other streams that it may wait for: no record says which, so one alone is known.
  std::vector<uint64_t> waits_for;
};

struct MomentAnswer {
  std::string asked;  // "reserved", "step:3", ... as it was asked for, or why it is in the list
  Moment moment = 0;
  std::optional<uint64_t> trace_events;  // of the run so far; empty where it was not loaded
  uint64_t time_ns = 0;
  Place place;
  Metrics metrics;
  std::vector<LargestRequest> largest_requests;
  std::optional<uint64_t> driver_free;
  std::vector<WaitingBlock> waiting;  // largest first
};

struct PinAnswer {
  Block block;
  BlockText text;
};

struct SegmentAnswer {
  Segment segment;
  Domain domain;  // pool, stream and size class; the sums are not of this segment
  PinnedSegment pinned;
  std::vector<PinAnswer> pinned_by;  // the largest; pinned.pins has all
};

// The state at one point of the series.
struct SeriesPoint {
  Moment moment = 0;
  uint64_t time_ns = 0;
  uint64_t reserved = 0;
  uint64_t requested = 0;
  uint64_t allocated = 0;
  uint64_t largest_free = 0;
  double external = 0;
  double root_sum_square = 0;
  Decomposition causes;
};

// 1 - peak allocated / peak reserved; 0 when nothing was reserved.
[[nodiscard]] inline double FragmentationOf(uint64_t allocated, uint64_t reserved) {
  return reserved == 0 ? 0 : 1 - static_cast<double>(allocated) / static_cast<double>(reserved);
}

struct Answer {
  MomentAnswer chosen;                  // the first that was asked for
  std::vector<SegmentAnswer> segments;  // of the chosen moment, most held back first
  uint64_t segment_count = 0;           // that hold anything back
  std::vector<MomentAnswer> moments;    // as asked, then the notable ones
  std::vector<SeriesPoint> series;
  uint64_t events = 0;
  uint64_t peak_reserved = 0;
  uint64_t peak_allocated = 0;
  uint64_t peak_requested = 0;
  Troubles troubles;
  std::vector<std::string> notes;

  // Of the whole run.
  [[nodiscard]] double Fragmentation() const { return FragmentationOf(peak_allocated, peak_reserved); }
};

struct Question {
  std::vector<std::string> at;  // none: "reserved"
  size_t segments = 10;         // how many, 0 = all
  size_t pins = 5;              // of each segment, 0 = all
  size_t points = 256;          // of the series, 0 = none
};

// The moment that a text means (timeline/moment_spec.h), the same as in a report.
[[nodiscard]] Result<Moment> FindMoment(const Subject& subject, const LayoutWalk& walk,
                                        const std::string& text);

// Fails when a moment does not exist, and when nothing is known of the segments.
[[nodiscard]] Result<Answer> BuildAnswer(const Subject& subject, const LayoutWalk& walk,
                                         const Question& question);

// One moment by itself.
[[nodiscard]] MomentAnswer AnswerFor(const Subject& subject, const Layout& layout, Moment moment,
                                     const std::string& asked);
[[nodiscard]] std::vector<SegmentAnswer> SegmentsOf(const Subject& subject, const Layout& layout,
                                                    Moment moment, size_t most_segments, size_t most_pins);

}  // namespace vramscope::fragmentation
