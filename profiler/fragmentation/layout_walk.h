// SPDX-License-Identifier: Apache-2.0
// Returns the memory layout at any moment of a history, in a few milliseconds. The class stores copies of the
// layout at some moments, and replays the events from the copy before the wanted moment.
//
//   events  ──────┬───────────────┬───────────────┬─────────►
//   copies        0              16 Ki           40 Ki
//
// The distance between two copies is 16 events for each block of the layout, and at least 4,096 events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/layout.h"

namespace vramscope::fragmentation {

// A moment n is the state after the first n events. Moment 0 is the state before the first event.
using Moment = uint32_t;

class LayoutWalk {
 public:
  // Replays the whole history once. `history` must outlive this object.
  LayoutWalk(const allocator::History& history, const Rules& rules);

  [[nodiscard]] const allocator::History& history() const { return history_; }
  [[nodiscard]] Moment end() const { return static_cast<Moment>(history_.events.size()); }

  // Returns the layout at a moment, which must be at most end(). Thread-safe. The history may contain the
  // segments at its end. If the events lead to other totals than these segments, At(end()) returns the layout
  // of the segments.
  [[nodiscard]] Layout At(Moment moment) const;

  // The moment with the most reserved memory. If several moments are equal, the moment with the most
  // allocated memory.
  [[nodiscard]] Moment fullest() const { return fullest_; }
  // The first moment with the most allocated memory.
  [[nodiscard]] Moment most_allocated() const { return most_allocated_; }
  // The moment with the largest difference between reserved bytes and requested bytes.
  [[nodiscard]] Moment worst() const { return worst_; }
  [[nodiscard]] uint64_t peak_reserved() const { return peak_reserved_; }
  [[nodiscard]] uint64_t peak_allocated() const { return peak_allocated_; }
  // Highest sum of requested bytes. No allocator can need less.
  [[nodiscard]] uint64_t peak_requested() const { return peak_requested_; }
  [[nodiscard]] const Troubles& troubles() const { return troubles_; }

 private:
  struct Checkpoint {
    Moment moment = 0;
    Layout layout;
  };
  void Walk(Layout layout);
  void Note(Moment moment, const DomainSums::Held& held);
  void TrustTheEnd(const Rules& rules);
  [[nodiscard]] const Checkpoint& Before(Moment moment) const;

  friend class LayoutCursor;

  const allocator::History& history_;
  std::vector<Checkpoint> checkpoints_;
  Moment fullest_ = 0;
  Moment most_allocated_ = 0;
  Moment worst_ = 0;
  uint64_t peak_reserved_ = 0;
  uint64_t allocated_when_fullest_ = 0;
  uint64_t peak_allocated_ = 0;
  uint64_t peak_requested_ = 0;
  uint64_t most_waste_ = 0;
  Troubles troubles_;
};

// Moves through the layouts of a LayoutWalk. Moving a few events forward is fast. Use one cursor per thread.
class LayoutCursor {
 public:
  explicit LayoutCursor(const LayoutWalk& walk) : walk_(walk), layout_(walk.checkpoints_.front().layout) {}

  // Returns the layout at `moment`, valid until the next call.
  const Layout& Seek(Moment moment);
  [[nodiscard]] Moment moment() const { return moment_; }

 private:
  const LayoutWalk& walk_;
  Layout layout_;
  Moment moment_ = 0;
};

}  // namespace vramscope::fragmentation
