// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope frag`, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fragmentation/measure.h"
#include "profiler/fragmentation/subject.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// A freed block that another stream may still use.
struct WaitingBlock {
  Block block;
  BlockText text;
  uint64_t stream = 0;  // handle of its own stream
  // All other streams: the block may wait for any of them. This is certain only if there is one other stream.
  std::vector<uint64_t> waits_for;
};

struct MomentAnswer {
  std::string asked;  // "reserved", "step:3"; for other moments the reason why they are listed
  Moment moment = 0;
  std::optional<uint64_t> trace_events;  // events of the run up to the moment
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
  Domain domain;  // sums over all segments of the domain
  PinnedSegment pinned;
  std::vector<PinAnswer> pinned_by;  // the largest blocks
};

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
  MomentAnswer chosen;                  // first requested moment
  std::vector<SegmentAnswer> segments;  // most held-back bytes first
  uint64_t segment_count = 0;           // segments with held-back bytes
  std::vector<MomentAnswer> moments;    // requested moments, then others of interest
  std::vector<SeriesPoint> series;
  uint64_t events = 0;
  uint64_t peak_reserved = 0;
  uint64_t peak_allocated = 0;
  uint64_t peak_requested = 0;
  Troubles troubles;
  std::vector<std::string> notes;

  // Over the whole run.
  [[nodiscard]] double Fragmentation() const { return FragmentationOf(peak_allocated, peak_reserved); }
};

struct Question {
  std::vector<std::string> at;  // empty: "reserved"
  size_t segments = 10;         // most segments to list; 0 = all
  size_t pins = 5;              // most pins per segment; 0 = all
  size_t points = 256;          // points in the series; 0 = no series
};

// The moment that `text` specifies (timeline/moment_spec.h).
[[nodiscard]] Result<Moment> FindMoment(const Subject& subject, const LayoutWalk& walk,
                                        const std::string& text);

// Fails if a moment does not exist or if the segments are unknown.
[[nodiscard]] Result<Answer> BuildAnswer(const Subject& subject, const LayoutWalk& walk,
                                         const Question& question);

[[nodiscard]] MomentAnswer AnswerFor(const Subject& subject, const Layout& layout, Moment moment,
                                     const std::string& asked);
[[nodiscard]] std::vector<SegmentAnswer> SegmentsOf(const Subject& subject, const Layout& layout,
                                                    Moment moment, size_t most_segments, size_t most_pins);

}  // namespace vramscope::fragmentation
