// SPDX-License-Identifier: Apache-2.0
// The time of every event and the event of every time, in little more than four bytes per event.
//
// Why keep all times: "the state at T" must include a label that came a microsecond after the last
// allocation, so the answer is the position of the last event of any type at or before T. Times are kept per
// chunk of 256 events as distances from the chunk's first; a chunk that spans more than 4.29 s keeps whole
// numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/model/chunked.h"
#include "profiler/model/ids.h"

namespace vramscope::model {

class TimeIndex {
 public:
  // The next event's time. A time before that of the event in front (a thread that was late to hand in its
  // records) counts as the same. Returns false when it was such a one.
  bool Append(uint64_t time_ns);

  [[nodiscard]] EventIndex size() const { return static_cast<EventIndex>(distances_.size()); }
  [[nodiscard]] uint64_t last_ns() const { return last_ns_; }

  // For event < size(); the end of the trace for others (kNever).
  [[nodiscard]] uint64_t TimeOf(EventIndex event) const;
  // The last event with time <= time_ns; kNever when all are later.
  [[nodiscard]] EventIndex LastEventAt(uint64_t time_ns) const;

 private:
  static constexpr unsigned kChunkBits = 8;
  struct ChunkStart {
    uint64_t time_ns = 0;
    uint32_t wide = kNone;  // into wide_, where the chunk's whole times begin
  };
  void Widen(uint32_t chunk);

  std::vector<ChunkStart> chunks_;
  Chunked<uint32_t> distances_;
  std::vector<uint64_t> wide_;
  uint64_t last_ns_ = 0;
};

}  // namespace vramscope::model
