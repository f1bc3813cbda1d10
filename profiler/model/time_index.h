// SPDX-License-Identifier: Apache-2.0
// Maps events to times and times to events, in little more than four bytes per event.
//
// Times are stored per chunk of 256 events, as distances from the chunk's first event. A chunk that spans
// more than 4.29 s stores 64-bit times.
//
//   times of a chunk    1,000  1,050  1,900 ns ...     chunk start 1,000, distances 0, 50, 900
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/model/chunked.h"
#include "profiler/model/ids.h"

namespace vramscope::model {

class TimeIndex {
 public:
  // Appends the time of the next event. A time before that of the previous event counts as equal to it, and
  // the result is false.
  bool Append(uint64_t time_ns);

  [[nodiscard]] EventIndex size() const { return static_cast<EventIndex>(distances_.size()); }
  [[nodiscard]] uint64_t last_ns() const { return last_ns_; }

  // For event >= size() (kNever): the time of the trace's end.
  [[nodiscard]] uint64_t TimeOf(EventIndex event) const;
  // The last event at or before time_ns; kNever if all are later.
  [[nodiscard]] EventIndex LastEventAt(uint64_t time_ns) const;

 private:
  static constexpr unsigned kChunkBits = 8;
  struct ChunkStart {
    uint64_t time_ns = 0;
    uint32_t wide = kNone;  // into wide_, where the chunk's full times begin
  };
  void Widen(uint32_t chunk);

  std::vector<ChunkStart> chunks_;
  Chunked<uint32_t> distances_;
  std::vector<uint64_t> wide_;
  uint64_t last_ns_ = 0;
};

}  // namespace vramscope::model
