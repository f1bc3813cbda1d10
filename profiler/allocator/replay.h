// SPDX-License-Identifier: Apache-2.0
// Runs a recorded history through the model and compares every decision with what really happened.
//
// Why: "exact for 22,332 of 22,332 events" is the basis for every statement about other settings. The
// requests, frees and completions of the history are inputs. Where a block lands, when a segment is taken or
// given back and when memory runs out are the model's own decisions. They are compared one by one, in order.
// The driver of a replay answers as the recorded driver did.
//
// What the record does not show is tried. Was a cache emptied by the program or by a failing request? Which
// frees completed before a request searched, and which while it waited, including the free requested directly
// before it? One reading that gives exactly the recorded events is enough.
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
  bool contradiction = false;    // the history contradicts itself, whatever the allocator
  uint64_t allocated_bytes = 0;  // of the model, before the event
  uint64_t reserved_bytes = 0;
  // What the model has at the recorded address: "free, 4,096 bytes from 0x7e00".
  std::string model_at_address;
};

struct PeakUse {
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;  // highest of the run, not at the same moment
  uint64_t event = 0;           // at which allocated_bytes was reached
  uint64_t reserved_then = 0;   // reserved after that event

  // Updates the peak with the state after `at`.
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
  // Compares the segments at the end with the recorded ones, block by block. Only if all events were exact
  // and the record has segments.
  bool final_state_compared = false;
  bool final_state_exact = false;
  std::string final_state_difference;  // the first difference
  Statistics statistics;
  std::string_view release;  // the record's own release, or the newest that explains a record without one
  std::vector<std::string> notes;

  [[nodiscard]] bool exact() const {
    return !first_divergence.has_value() && (!final_state_compared || final_state_exact);
  }
};

// Block sizes that the model knows and the history does not record, for blocks that are gone.
struct BlockSizes {
  std::vector<uint64_t> by_event;     // by index into History::events: size of an allocation's block; 0 =
                                      // another event, or after the first divergence
  std::vector<SegmentState> initial;  // before the first event
};

// An error only if nothing can be run: settings that the release refuses, or a backend without segments.
// `sizes`, if given, is filled for the release in the result.
[[nodiscard]] Result<ReplayResult> Replay(const History& history, BlockSizes* sizes = nullptr);

}  // namespace vramscope::allocator
