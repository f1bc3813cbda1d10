// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/layout_walk.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/allocator/initial_state.h"

namespace vramscope::fragmentation {
namespace {

// Events between two checkpoints: at least these, and so many that all copies together take less memory than
// the events (a block of a copy 90 bytes, an event 32) and a moment is found in two milliseconds.
constexpr uint64_t kMinStride = 4096;
constexpr uint64_t kEventsPerBlock = 16;

}  // namespace

LayoutWalk::LayoutWalk(const allocator::History& history, const Rules& rules) : history_(history) {
  Layout begin(rules);
  if (history.has_segments && !history.complete) {
    const allocator::InitialState state =
        allocator::InitialStateOf(history, rules.settings, *rules.release, history.device_bytes);
    for (const allocator::SegmentState& segment : state.segments) begin.AddSegment(segment);
  }
  Walk(std::move(begin));
  TrustTheEnd(rules);
}

// Where the events do not lead to the segments that the file has at the end, the segments are believed.
void LayoutWalk::TrustTheEnd(const Rules& rules) {
  if (!history_.has_segments) return;
  Layout written(rules);
  for (const allocator::SegmentState& segment : history_.segments) written.AddSegment(segment);
  const Domain ours = At(end()).Total();
  const Domain theirs = written.Total();
  const bool same = ours.reserved == theirs.reserved && ours.allocated == theirs.allocated &&
                    ours.requested == theirs.requested && ours.pending == theirs.pending &&
                    ours.whole == theirs.whole;
  if (same) return;
  ++troubles_.other_end;
  if (!troubles_.first.has_value()) troubles_.first = end();
  if (checkpoints_.back().moment == end()) checkpoints_.pop_back();
  checkpoints_.push_back({end(), std::move(written)});
}

void LayoutWalk::Walk(Layout layout) {
  checkpoints_.push_back({0, layout});
  Note(0, layout);
  const auto& events = history_.events;
  uint64_t stride = std::max(kMinStride, kEventsPerBlock * layout.block_count());
  for (Moment i = 0; i < events.size(); ++i) {
    layout.Apply(events[i], i);
    Note(i + 1, layout);
    if (i + 1 - checkpoints_.back().moment < stride) continue;
    checkpoints_.push_back({i + 1, layout});
    stride = std::max(kMinStride, kEventsPerBlock * layout.block_count());
  }
  troubles_ = layout.troubles();
}

void LayoutWalk::Note(Moment moment, const Layout& layout) {
  uint64_t reserved = 0;
  uint64_t allocated = 0;
  uint64_t requested = 0;
  for (const Domain& domain : layout.domains()) {
    reserved += domain.reserved;
    allocated += domain.allocated;
    requested += domain.requested;
  }
  const bool fuller = reserved > peak_reserved_;
  if (fuller || (reserved == peak_reserved_ && allocated > allocated_when_fullest_)) {
    peak_reserved_ = reserved;
    allocated_when_fullest_ = allocated;
    fullest_ = moment;
  }
  if (reserved - requested > most_waste_) {
    most_waste_ = reserved - requested;
    worst_ = moment;
  }
  peak_allocated_ = std::max(peak_allocated_, allocated);
  peak_requested_ = std::max(peak_requested_, requested);
}

const LayoutWalk::Checkpoint& LayoutWalk::Before(Moment moment) const {
  const auto after = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), moment,
                                      [](Moment wanted, const Checkpoint& at) { return wanted < at.moment; });
  return *std::prev(after);
}

Layout LayoutWalk::At(Moment moment) const {
  LayoutCursor cursor(*this);
  return cursor.Seek(moment);
}

const Layout& LayoutCursor::Seek(Moment moment) {
  moment = std::min(moment, walk_.end());
  const LayoutWalk::Checkpoint& checkpoint = walk_.Before(moment);
  if (moment < moment_ || checkpoint.moment > moment_) {
    layout_ = checkpoint.layout;
    moment_ = checkpoint.moment;
  }
  for (; moment_ < moment; ++moment_) layout_.Apply(walk_.history().events[moment_], moment_);
  return layout_;
}

}  // namespace vramscope::fragmentation
