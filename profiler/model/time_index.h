// SPDX-License-Identifier: Apache-2.0
// Maps events to times and times to events. Uses little more than four bytes of memory per event.
//
// A chunk holds the times of 256 events, as 32-bit distances in ns from the chunk's first event. A chunk that
// spans more than 4.29 s holds 64-bit times instead.
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
  // Appends the time of the next event. Returns false if `time_ns` is before the time of the previous event;
  // then the time of the previous event is appended.
  bool Append(uint64_t time_ns);

  [[nodiscard]] EventIndex size() const { return static_cast<EventIndex>(distances_.size()); }
  [[nodiscard]] uint64_t last_ns() const { return last_ns_; }

  // Returns the time of an event. For event >= size(), such as kNever, returns the time of the last event.
  [[nodiscard]] uint64_t TimeOf(EventIndex event) const;
  // Returns the last event at or before `time_ns`, or kNever if all events are later.
  [[nodiscard]] EventIndex LastEventAt(uint64_t time_ns) const;

 private:
  static constexpr unsigned kChunkBits = 8;
  struct ChunkStart {
    uint64_t time_ns = 0;
    uint32_t wide = kNone;  // index in wide_ of the chunk's 64-bit times
  };
  void Widen(uint32_t chunk);

  std::vector<ChunkStart> chunks_;
  Chunked<uint32_t> distances_;
  std::vector<uint64_t> wide_;
  uint64_t last_ns_ = 0;
};

}  // namespace vramscope::model
