// SPDX-License-Identifier: Apache-2.0
// Replay: runs a recorded history through the model and compares every decision with the record.
//
// The requests, frees and completions of the history are inputs. The model decides about the placement of
// blocks, about segments, and when memory runs out. The driver of a replay answers as the recorded driver
// did.
//
// The record leaves some questions open. For example, it does not show whether the program or a failing
// request emptied the cache. Replay tries the possible answers and takes the first that gives exactly the
// recorded events.
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
  std::string model;             // the model's event, or how the history contradicts itself
  bool contradiction = false;    // no allocator could have made this history
  uint64_t allocated_bytes = 0;  // in the model, before the event
  uint64_t reserved_bytes = 0;
  // The model's block at the recorded address: "free, 4,096 bytes from 0x7e00".
  std::string model_at_address;
};

struct PeakUse {
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;  // highest of the run, possibly at another event than `event`
  uint64_t event = 0;           // the event that reached allocated_bytes
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
  // Block by block. Compared only if all events were exact and the record has segments.
  bool final_state_compared = false;
  bool final_state_exact = false;
  std::string final_state_difference;
  Statistics statistics;
  // The recorded release. If none is recorded: the newest release that explains the record, or most of it.
  std::string_view release;
  std::vector<std::string> notes;

  [[nodiscard]] bool exact() const {
    return !first_divergence.has_value() && (!final_state_compared || final_state_exact);
  }
};

// Block sizes computed by the model.
struct BlockSizes {
  std::vector<uint64_t> by_event;     // by index into History::events; 0 for events other than allocations,
                                      // and after the first divergence
  std::vector<SegmentState> initial;  // before the first event
};

// Fails if the release refuses the settings or the backend has no segments. `sizes`, if given, is filled for
// the release in the result.
[[nodiscard]] Result<ReplayResult> Replay(const History& history, BlockSizes* sizes = nullptr);

}  // namespace vramscope::allocator
