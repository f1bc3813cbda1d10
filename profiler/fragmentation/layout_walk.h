// SPDX-License-Identifier: Apache-2.0
// The layouts of a whole history. Returns the layout at any moment in a few milliseconds, from stored copies.
// The distance between two copies is 16 events per block, and at least 4,096 events.
//
//   events  ──────┬───────────────┬───────────────┬─────────►       A moment n is the state after the first n
//   copies        0              16 Ki           40 Ki               events; 0 is before the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/layout.h"

namespace vramscope::fragmentation {

// The state after the first `n` events.
using Moment = uint32_t;

class LayoutWalk {
 public:
  // Walks the whole history once. `history` must outlive it.
  LayoutWalk(const allocator::History& history, const Rules& rules);

  [[nodiscard]] const allocator::History& history() const { return history_; }
  [[nodiscard]] Moment end() const { return static_cast<Moment>(history_.events.size()); }

  // The layout at a moment, at most end(). Thread-safe. If the history has segments at its end and the events
  // lead to other totals, At(end()) has the segments of the history.
  [[nodiscard]] Layout At(Moment moment) const;

  // The moment with the most reserved memory; on a tie, with more allocated memory.
  [[nodiscard]] Moment fullest() const { return fullest_; }
  // The moment with the most allocated memory; the first on a tie.
  [[nodiscard]] Moment most_allocated() const { return most_allocated_; }
  // The moment with the most reserved bytes that are not requested.
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

// Moves through a walk. A small step forward costs little. One cursor per thread.
class LayoutCursor {
 public:
  explicit LayoutCursor(const LayoutWalk& walk) : walk_(walk), layout_(walk.checkpoints_.front().layout) {}

  // Valid until the next call.
  const Layout& Seek(Moment moment);
  [[nodiscard]] Moment moment() const { return moment_; }

 private:
  const LayoutWalk& walk_;
  Layout layout_;
  Moment moment_ = 0;
};

}  // namespace vramscope::fragmentation
