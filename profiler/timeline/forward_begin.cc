// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/forward_begin.h"

#include <algorithm>

namespace vramscope::timeline {
namespace {

using model::BlockId;
using model::EventIndex;

bool BeginsBefore(const Interval& interval, EventIndex event) { return interval.begin < event; }

// std::lower_bound for a bound that is probably near `from`: few elements lie between two neighboring windows.
std::vector<Interval>::const_iterator NearBound(const std::vector<Interval>& intervals,
                                                std::vector<Interval>::const_iterator from,
                                                EventIndex event) {
  std::ptrdiff_t stride = 1;
  while (stride < intervals.end() - from && BeginsBefore(from[stride - 1], event)) {
    from += stride;
    stride *= 2;
  }
  return std::lower_bound(from, from + std::min(stride, intervals.end() - from), event, BeginsBefore);
}

EventIndex FirstBegin(const std::vector<Interval>& intervals, EventIndex begin, EventIndex end) {
  const auto within = ForwardBegin::Within(intervals, begin, end);
  return within.empty() ? end : within.front().begin;
}

}  // namespace

std::span<const Interval> ForwardBegin::Within(const std::vector<Interval>& intervals, EventIndex begin,
                                               EventIndex end) {
  const auto first = std::lower_bound(intervals.begin(), intervals.end(), begin, BeginsBefore);
  return {first, NearBound(intervals, first, end)};
}

EventIndex ForwardBegin::FirstSave(EventIndex begin, EventIndex end) const {
  const auto& saves = run_.processes[process_].first_saves;
  const auto first = std::lower_bound(saves.begin(), saves.end(), begin);
  return first == saves.end() || *first >= end ? end : *first;
}

void ForwardBegin::FindAnchor(const Gap& gap, ForwardEdges& edges) const {
  const auto data = Within(windows_.data, gap.begin, gap.end);
  edges.anchor = gap.begin;
  edges.data_before = 0;
  for (size_t i = data.size(); i-- > 0;) {
    const EventIndex segment_end = i + 1 < data.size() ? data[i + 1].begin : gap.end;
    if (FirstSave(data[i].end, segment_end) == segment_end) continue;
    edges.anchor = data[i].end;
    edges.data_before = i + 1;
    return;
  }
  if (data.empty() || FirstSave(gap.begin, data.front().begin) != data.front().begin) return;
  edges.anchor = data.back().end;  // nothing was ever saved: the last batch is the best guess
  edges.data_before = data.size();
}

ForwardEdges ForwardBegin::Find(const Gap& gap) const {
  ForwardEdges edges;
  FindAnchor(gap, edges);
  edges.forward = FirstBegin(windows_.modules, edges.anchor, gap.end);
  if (edges.forward != gap.end) return edges;

  const EventIndex first_save = FirstSave(edges.anchor, gap.end);
  const EventIndex as_learned = AsLearned(gap, edges.anchor);
  const EventIndex begin =
      as_learned != model::kNever ? as_learned : FirstBegin(windows_.autocast, edges.anchor, gap.end);
  edges.forward = std::min(begin, first_save);
  return edges;
}

EventIndex ForwardBegin::AsLearned(const Gap& gap, EventIndex anchor) const {
  const Lesson* const lesson = gap.to_backward ? LessonFor(gap) : nullptr;
  if (lesson == nullptr) return model::kNever;
  const auto autocast = Within(windows_.autocast, anchor, gap.end);
  const uint32_t from_last = lesson->autocast_from_last;
  if (from_last != 0 && from_last <= autocast.size()) return autocast[autocast.size() - from_last].begin;
  const EventIndex matched = MatchBack(gap, anchor, *lesson);
  return matched != model::kNever ? matched : CountBack(gap, anchor, lesson->allocations);
}

const ForwardBegin::Lesson* ForwardBegin::LessonFor(const Gap& gap) const {
  const auto learned = learned_.find(gap.micro_batch);
  if (learned == learned_.end()) return nullptr;
  const auto after = std::find_if(learned->second.begin(), learned->second.end(),
                                  [&](const Lesson& lesson) { return lesson.last_step >= gap.step; });
  if (after == learned->second.begin()) return &*after;
  const auto before = std::prev(after);
  const bool nearer =
      after != learned->second.end() &&
      (after->first_step <= gap.step || after->first_step - gap.step < gap.step - before->last_step);
  return nearer ? &*after : &*before;
}

void ForwardBegin::Learn(const Gap& gap) {
  if (!gap.to_backward || windows_.modules.empty()) return;
  ForwardEdges edges;
  FindAnchor(gap, edges);
  const EventIndex forward = FirstBegin(windows_.modules, edges.anchor, gap.end);
  if (forward == gap.end) return;
  // Learns from the shortest deep step: others warm up or capture a graph, and have one-time allocations.
  const uint32_t allocations = CountAllocations(gap.thread, forward, gap.end);
  std::vector<Lesson>& lessons = learned_[gap.micro_batch];
  if (lessons.empty() || lessons.back().last_step + 1 < gap.step) {
    lessons.push_back({.first_step = gap.step});
  }
  Lesson& lesson = lessons.back();
  lesson.last_step = gap.step;
  if (lesson.end == 0 || allocations < lesson.allocations) {
    lesson.forward = forward, lesson.end = gap.end, lesson.thread = gap.thread;
    lesson.allocations = allocations;
  }
  lesson.autocast_from_last = 0;
  const auto before = Within(windows_.autocast, edges.anchor, forward);
  if (!before.empty() && CountAllocations(gap.thread, before.back().begin, forward) == 0) {
    lesson.autocast_from_last =
        static_cast<uint32_t>(Within(windows_.autocast, before.back().begin, gap.end).size());
  }
}

uint32_t ForwardBegin::CountAllocations(model::ThreadIndex thread, EventIndex begin, EventIndex end) const {
  uint32_t count = 0;
  for (BlockId id = run_.FirstBlockFrom(begin); id < run_.blocks.size(); ++id) {
    const model::Block& block = run_.blocks[id];
    if (block.alloc_event >= end) break;
    count += block.thread == thread ? 1 : 0;
  }
  return count;
}

EventIndex ForwardBegin::MatchBack(const Gap& gap, EventIndex begin, const Lesson& lesson) const {
  EventIndex found = model::kNever;
  BlockId at = run_.FirstBlockFrom(gap.end);
  for (BlockId id = run_.FirstBlockFrom(lesson.end); id-- > 0;) {
    const model::Block& wanted = run_.blocks[id];
    if (wanted.alloc_event < lesson.forward) return found;
    if (wanted.thread != lesson.thread) continue;
    do {
      if (at-- == 0 || run_.blocks[at].alloc_event < begin) return model::kNever;
    } while (run_.blocks[at].thread != gap.thread || run_.blocks[at].Requested() != wanted.Requested());
    found = run_.blocks[at].alloc_event;
  }
  return found;
}

EventIndex ForwardBegin::CountBack(const Gap& gap, EventIndex begin, uint32_t count) const {
  if (count == 0) return model::kNever;
  for (BlockId id = run_.FirstBlockFrom(gap.end); id-- > 0;) {
    const model::Block& block = run_.blocks[id];
    if (block.alloc_event < begin) break;
    if (block.thread == gap.thread && --count == 0) return block.alloc_event;
  }
  return model::kNever;
}

}  // namespace vramscope::timeline
