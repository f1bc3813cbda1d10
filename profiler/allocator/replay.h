// SPDX-License-Identifier: Apache-2.0
// Runs a recorded history through the model and holds every decision to what really happened.
//
// Why: "exact for 22,332 of 22,332 events" is the licence of everything that is then said about other
// settings. The requests, frees and completions of the history are inputs; where a block lands, when a
// segment is taken or given back, and when memory ends are the model's own decisions, compared one by one, in
// order. The driver of a replay answers as the driver of the record did.
//
// What the record does not say is tried: whether a cache was emptied by the program or by a failing request,
// and which frees completed before a request searched and which when it had to wait, the one asked for
// directly before it included. One reading that gives exactly the recorded events is enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/allocator/statistics.h"
#include "trace_format/result.h"

namespace vramscope::allocator {

struct Divergence {
  uint64_t event = 0;            // into History::events
  std::string recorded;          // "alloc of 2,097,152 bytes at 0x7f00"
  std::string model;             // what the model did instead; or how the history contradicts itself
  bool contradiction = false;    // the history is at odds with itself, whatever the allocator
  uint64_t allocated_bytes = 0;  // of the model, before the event
  uint64_t reserved_bytes = 0;
  std::string model_at_address;  // what the model has where the record went: "free, 4,096 bytes from 0x7e00"
};

struct PeakUse {
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;  // highest of the run, not at the same moment
  uint64_t event = 0;           // at which allocated_bytes was reached
  uint64_t reserved_then = 0;   // reserved after that event

  // The state after `at`.
  void Note(const PoolStatistics& now, uint64_t at) {
    reserved_bytes = std::max(reserved_bytes, now.reserved_bytes.peak);
    if (now.allocated_bytes.current <= allocated_bytes) return;
    allocated_bytes = now.allocated_bytes.current;
    reserved_then = now.reserved_bytes.current;
    event = at;
  }
};

struct ReplayResult {
  uint64_t events_total = 0;
  uint64_t events_exact = 0;  // up to the first divergence
  std::optional<Divergence> first_divergence;
  PeakUse peak;
  uint64_t initial_segments = 0;  // before the first event
  uint64_t initial_blocks = 0;
  // The segments at the end against those of the record, block by block; only when all events were exact and
  // the record has them.
  bool final_state_compared = false;
  bool final_state_exact = false;
  std::string final_state_difference;  // the first
  Statistics statistics;
  std::string_view
      release;  // whose rules: the record's own, or the newest that explain it when it names none
  std::vector<std::string> notes;

  [[nodiscard]] bool exact() const {
    return !first_divergence.has_value() && (!final_state_compared || final_state_exact);
  }
};

// What the history does not say of blocks that are gone, and the model does: how many bytes they took.
struct BlockSizes {
  std::vector<uint64_t> by_event;  // of an allocation's block, in the order of History::events; 0 = another
                                   // event, or behind the first divergence
  std::vector<SegmentState> initial;  // before the first event
};

// An error only when nothing can be run: settings that the release refuses, a backend without segments.
// `sizes`, when it is asked for, is that of the release in the result.
[[nodiscard]] Result<ReplayResult> Replay(const History& history, BlockSizes* sizes = nullptr);

}  // namespace vramscope::allocator
