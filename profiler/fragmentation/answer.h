// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope frag`, as plain structs, and the functions that compute it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fragmentation/measure.h"
#include "profiler/fragmentation/subject.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// A block that was freed but cannot be reused yet, because another stream may still use it.
struct WaitingBlock {
  Block block;
  BlockText text;
  uint64_t stream = 0;  // handle of the stream that the block was allocated for
  // Handles of all other streams. The block may wait for any of them. If there is exactly one other stream,
  // the block waits for that stream.
  std::vector<uint64_t> waits_for;
};

struct MomentAnswer {
  std::string asked;  // the requested moment, such as "step:3"; if not requested, the reason why it is listed
  Moment moment = 0;
  std::optional<uint64_t> trace_events;  // number of trace events up to the moment
  uint64_t time_ns = 0;
  Place place;
  Metrics metrics;
  std::vector<LargestRequest> largest_requests;
  std::optional<uint64_t> driver_free;
  std::vector<WaitingBlock> waiting;  // sorted by size, largest first
};

struct PinAnswer {
  Block block;
  BlockText text;
};

struct SegmentAnswer {
  Segment segment;
  Domain domain;  // sums over all segments of the same stream and pool
  PinnedSegment pinned;
  std::vector<PinAnswer> pinned_by;  // the largest blocks that pin the segment
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
  MomentAnswer chosen;                  // the first requested moment
  std::vector<SegmentAnswer> segments;  // sorted by held-back bytes, most first
  uint64_t segment_count = 0;           // number of segments with held-back bytes
  std::vector<MomentAnswer> moments;    // requested moments, followed by other moments of interest
  std::vector<SeriesPoint> series;
  uint64_t events = 0;
  uint64_t peak_reserved = 0;
  uint64_t peak_allocated = 0;
  uint64_t peak_requested = 0;
  Troubles troubles;
  std::vector<std::string> notes;

  // Fragmentation of the whole run.
  [[nodiscard]] double Fragmentation() const { return FragmentationOf(peak_allocated, peak_reserved); }
};

struct Question {
  std::vector<std::string> at;  // requested moments; empty = "reserved"
  size_t segments = 10;         // maximum number of segments to list; 0 = all
  size_t pins = 5;              // maximum number of pins per segment; 0 = all
  size_t points = 256;          // number of points in the series; 0 = no series
};

// Returns the moment that `text` specifies (timeline/moment_spec.h).
[[nodiscard]] Result<Moment> FindMoment(const Subject& subject, const LayoutWalk& walk,
                                        const std::string& text);

// Computes the answer. Fails if a requested moment does not exist, or if the segments are unknown.
[[nodiscard]] Result<Answer> BuildAnswer(const Subject& subject, const LayoutWalk& walk,
                                         const Question& question);

[[nodiscard]] MomentAnswer AnswerFor(const Subject& subject, const Layout& layout, Moment moment,
                                     const std::string& asked);
[[nodiscard]] std::vector<SegmentAnswer> SegmentsOf(const Subject& subject, const Layout& layout,
                                                    Moment moment, size_t most_segments, size_t most_pins);

}  // namespace vramscope::fragmentation
