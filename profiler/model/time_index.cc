// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/time_index.h"

#include <algorithm>
#include <limits>

namespace vramscope::model {

bool TimeIndex::Append(uint64_t time_ns) {
  const bool in_order = distances_.empty() || time_ns >= last_ns_;
  last_ns_ = in_order ? time_ns : last_ns_;
  const size_t in_chunk = distances_.size() & ((1u << kChunkBits) - 1);
  if (in_chunk == 0) chunks_.push_back({last_ns_, kNone});
  ChunkStart& chunk = chunks_.back();
  const uint64_t distance = last_ns_ - chunk.time_ns;
  if (chunk.wide == kNone && distance > std::numeric_limits<uint32_t>::max()) {
    Widen(static_cast<uint32_t>(chunks_.size() - 1));
  }
  if (chunk.wide != kNone) wide_[chunk.wide + in_chunk] = last_ns_;
  distances_.push_back(static_cast<uint32_t>(distance));
  return in_order;
}

void TimeIndex::Widen(uint32_t chunk) {
  const size_t first = size_t{chunk} << kChunkBits;
  chunks_[chunk].wide = static_cast<uint32_t>(wide_.size());
  for (size_t i = first; i < distances_.size(); ++i) wide_.push_back(chunks_[chunk].time_ns + distances_[i]);
  wide_.resize(chunks_[chunk].wide + (size_t{1} << kChunkBits));
}

uint64_t TimeIndex::TimeOf(EventIndex event) const {
  if (event >= size()) return last_ns_;
  const ChunkStart& chunk = chunks_[event >> kChunkBits];
  if (chunk.wide != kNone) return wide_[chunk.wide + (event & ((1u << kChunkBits) - 1))];
  return chunk.time_ns + distances_[event];
}

EventIndex TimeIndex::LastEventAt(uint64_t time_ns) const {
  auto chunk = std::upper_bound(chunks_.begin(), chunks_.end(), time_ns,
                                [](uint64_t time, const ChunkStart& start) { return time < start.time_ns; });
  if (chunk == chunks_.begin()) return kNever;
  // Finds the last event of that chunk that is not later than time_ns; the chunk's first event is not later.
  uint32_t low = static_cast<uint32_t>(chunk - chunks_.begin() - 1) << kChunkBits;
  uint32_t high = std::min<uint32_t>(size(), low + (1u << kChunkBits));
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (TimeOf(middle) <= time_ns ? low : high) = middle;
  }
  return low;
}

}  // namespace vramscope::model
