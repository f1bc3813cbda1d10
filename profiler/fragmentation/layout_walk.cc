// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/layout_walk.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/allocator/initial_state.h"

namespace vramscope::fragmentation {
namespace {

// The number of events between two checkpoints. All copies together must need less memory than the events (a
// block of a copy needs 90 bytes, an event 32), and any moment must be found in two milliseconds.
constexpr uint64_t kMinStride = 4096;
constexpr uint64_t kEventsPerBlock = 16;

bool IsOneFree(const allocator::Event& event, const allocator::Event& next) {
  return event.action == allocator::Action::kFreeRequested &&
         next.action == allocator::Action::kFreeCompleted && event.address == next.address;
}

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

// If the events do not lead to the segments at the end of the file, the layout at the end is made from those
// segments.
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
  Note(0, layout.held());
  const auto& events = history_.events;
  uint64_t stride = std::max(kMinStride, kEventsPerBlock * layout.block_count());
  const auto due = [&](Moment moment) { return moment - checkpoints_.back().moment >= stride; };
  for (Moment i = 0; i < events.size(); ++i) {
    // The second event of a free does not change the reserved or allocated bytes.
    const bool at_once = i + 1 < events.size() && !due(i + 1) && IsOneFree(events[i], events[i + 1]) &&
                         layout.FreeAtOnce(events[i]);
    if (!at_once) layout.Apply(events[i], i);
    Note(i + 1, layout.held());
    if (at_once) ++i;
    if (!due(i + 1)) continue;
    checkpoints_.push_back({i + 1, layout});
    stride = std::max(kMinStride, kEventsPerBlock * layout.block_count());
  }
  troubles_ = layout.troubles();
  // If a history begins in the middle and has no segments, its first events are the existing blocks, which
  // can be anywhere.
  if (!history_.complete && !history_.has_segments) troubles_.not_at_begin = 0;
}

void LayoutWalk::Note(Moment moment, const DomainSums::Held& held) {
  const bool fuller = held.reserved > peak_reserved_;
  if (fuller || (held.reserved == peak_reserved_ && held.allocated > allocated_when_fullest_)) {
    peak_reserved_ = held.reserved;
    allocated_when_fullest_ = held.allocated;
    fullest_ = moment;
  }
  if (held.reserved - held.requested > most_waste_) {
    most_waste_ = held.reserved - held.requested;
    worst_ = moment;
  }
  if (held.allocated > peak_allocated_) {
    peak_allocated_ = held.allocated;
    most_allocated_ = moment;
  }
  peak_requested_ = std::max(peak_requested_, held.requested);
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
