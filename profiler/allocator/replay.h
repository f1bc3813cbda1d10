// SPDX-License-Identifier: Apache-2.0
// Replay: repeats a recorded history with the model of the allocator and compares each decision of the model
// with the recorded event.
//
// Inputs are the history's requests, free requests and completed frees. The model decides where blocks are
// placed, when segments are allocated and freed, and when memory runs out. The replay's driver gives the same
// answers as the recorded driver.
//
// A history does not tell everything. For example, the program may have emptied the cache, or a request that
// ran out of memory. Replay tries each possibility and uses the first one that gives exactly the recorded
// events.
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

// The first event at which the model and the history differ.
struct Divergence {
  uint64_t event = 0;            // index into History::events
  std::string recorded;          // the recorded event: "alloc of 2,097,152 bytes at 0x7f00"
  std::string model;             // the model's event, or how the history contradicts itself
  bool contradiction = false;    // true if no allocator could have made this history
  uint64_t allocated_bytes = 0;  // in the model, before the event
  uint64_t reserved_bytes = 0;   // in the model, before the event
  // The model's block at the recorded address: "free, 4,096 bytes from 0x7e00".
  std::string model_at_address;
};

struct PeakUse {
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;  // highest of the run, possibly reached at another event than `event`
  uint64_t event = 0;           // the event that reached allocated_bytes
  uint64_t reserved_then = 0;   // reserved bytes after `event`

  // Updates the peak. `now`: the statistics after the event `at`.
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
  uint64_t events_exact = 0;  // number of equal events before the first divergence
  std::optional<Divergence> first_divergence;
  PeakUse peak;
  uint64_t initial_segments = 0;  // before the first event
  uint64_t initial_blocks = 0;    // before the first event
  // The comparison of all blocks after the last event. It is made only if all events were exact and the
  // history has segments.
  bool final_state_compared = false;
  bool final_state_exact = false;
  std::string final_state_difference;
  Statistics statistics;
  // The PyTorch release that the model followed. If the history has no release: the newest release that gives
  // the most exact events.
  std::string_view release;
  std::vector<std::string> notes;

  [[nodiscard]] bool exact() const {
    return !first_divergence.has_value() && (!final_state_compared || final_state_exact);
  }
};

// Block sizes in bytes, computed by the model.
struct BlockSizes {
  std::vector<uint64_t> by_event;     // one entry for each of History::events; 0 for events other than
                                      // allocations, and after the first divergence
  std::vector<SegmentState> initial;  // the segments before the first event
};

// Returns an error if the PyTorch release does not accept the settings, or if the allocator backend has no
// segments (cudaMallocAsync). If `sizes` is not nullptr, it gets the block sizes of ReplayResult::release.
[[nodiscard]] Result<ReplayResult> Replay(const History& history, BlockSizes* sizes = nullptr);

}  // namespace vramscope::allocator
