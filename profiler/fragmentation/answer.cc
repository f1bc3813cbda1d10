// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/answer.h"

#include <algorithm>

#include "profiler/timeline/moment_spec.h"

namespace vramscope::fragmentation {
namespace {

using timeline::MomentSpec;

// The moment with the most allocated memory in a step; the first one on a tie.
Moment FullestIn(const LayoutWalk& walk, const StepSpan& step) {
  LayoutCursor cursor(walk);
  Moment best = step.begin;
  uint64_t most = 0;
  for (Moment moment = step.begin; moment <= step.end; ++moment) {
    const uint64_t now = cursor.Seek(moment).Total().allocated;
    if (now <= most) continue;
    most = now;
    best = moment;
  }
  return best;
}

Result<Moment> StepMoment(const Subject& subject, const LayoutWalk& walk, const MomentSpec& spec) {
  for (const StepSpan& step : subject.steps) {
    if (step.number == spec.value) return FullestIn(walk, step);
  }
  if (subject.steps.empty()) {
    return Error{"there is no training step in this " + subject.source + ", so there is no " + spec.text +
                 "."};
  }
  return Error{"there is no " + spec.text + "; the steps are " +
               std::to_string(subject.steps.front().number) + " to " +
               std::to_string(subject.steps.back().number) + "."};
}

Result<Moment> FailureMoment(const Subject& subject, const MomentSpec& spec) {
  const size_t failures = subject.failures.size();
  const size_t number = spec.value == 0 ? subject.main_failure + 1 : spec.value;
  if (number <= failures) return subject.failures[number - 1].moment;
  return Error{"there is no " + spec.text + ": this " + subject.source + " has " + std::to_string(failures) +
               " out-of-memory events on " + subject.device + "."};
}

Result<Moment> EventMoment(const Subject& subject, const MomentSpec& spec) {
  if (spec.value == 0) return Moment{0};
  if (subject.origins == nullptr)
    return Error{"the events of this " + subject.source + " have no numbers, so there is no " + spec.text +
                 "."};
  if (spec.value > subject.run_events)
    return Error{"this " + subject.source + " has " + std::to_string(subject.run_events) +
                 " events, so there is no " + spec.text + "."};
  return subject.MomentAfter(static_cast<model::EventIndex>(spec.value - 1));
}

// If `moment` lies between the two events of a free that completes at once, the moment after it. In between,
// the block would look pending.
Moment AfterWholeFree(const allocator::History& history, Moment moment) {
  if (moment == 0 || moment >= history.events.size()) return moment;
  const allocator::Event& last = history.events[moment - 1];
  const allocator::Event& next = history.events[moment];
  const bool inside = last.action == allocator::Action::kFreeRequested &&
                      next.action == allocator::Action::kFreeCompleted && last.address == next.address;
  return inside ? moment + 1 : moment;
}

std::vector<SeriesPoint> SeriesOf(const Subject& subject, const LayoutWalk& walk, size_t points) {
  std::vector<Moment> moments = {walk.fullest(), walk.worst()};
  const size_t steps = std::min<size_t>(points, walk.end() + size_t{1});
  for (size_t i = 0; i < steps; ++i) {
    moments.push_back(steps == 1 ? walk.end() : static_cast<Moment>(uint64_t{walk.end()} * i / (steps - 1)));
  }
  for (Moment& moment : moments) moment = AfterWholeFree(walk.history(), moment);
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  std::vector<SeriesPoint> series;
  LayoutCursor cursor(walk);
  for (const Moment moment : moments) {
    const Metrics metrics = Measure(cursor.Seek(moment));
    series.push_back({moment, subject.TimeOf(moment), metrics.total.reserved, metrics.total.requested,
                      metrics.total.allocated, metrics.space.largest, metrics.space.External(),
                      metrics.space.RootSumSquare(), metrics.causes});
  }
  return series;
}

std::vector<std::string> NotesOf(const Subject& subject, const Troubles& troubles) {
  std::vector<std::string> notes = subject.notes;
  if (troubles.total() != 0) {
    std::string where = "the list of segments at its end";
    if (troubles.first.has_value() && *troubles.first != kBeforeHistory) {
      where = "event " + std::to_string(*troubles.first);
    }
    notes.push_back("The history contradicts itself in " + std::to_string(troubles.total()) +
                    " places, first at " + where +
                    "; the figures use the segments as far as they are known.");
  }
  return notes;
}

}  // namespace

Result<Moment> FindMoment(const Subject& subject, const LayoutWalk& walk, const std::string& text) {
  using Kind = MomentSpec::Kind;
  const MomentSpec spec = VRAMSCOPE_TRY(timeline::ParseMoment(text));
  switch (spec.kind) {
    case Kind::kPeak:
      return walk.most_allocated();
    case Kind::kReserved:
      return walk.fullest();
    case Kind::kWorst:
      return walk.worst();
    case Kind::kEnd:
      return walk.end();
    case Kind::kOutOfMemory:
      return FailureMoment(subject, spec);
    case Kind::kStep:
      return StepMoment(subject, walk, spec);
    case Kind::kEvent:
      return EventMoment(subject, spec);
    case Kind::kTime:
      return subject.MomentAt(spec.value);
    case Kind::kMonotonic:
      return subject.MomentAt(spec.value - std::min(spec.value, subject.start_monotonic_ns));
  }
  return walk.most_allocated();
}

namespace {

std::vector<WaitingBlock> WaitingBlocks(const Subject& subject, const Layout& layout, Moment moment) {
  std::vector<WaitingBlock> waiting;
  for (const auto& [address, index] : layout.segments()) {
    const Segment& segment = layout.segment(index);
    const uint64_t stream = subject.history.streams[layout.DomainOf(segment).stream];
    for (BlockIndex at = segment.first; at != kNoIndex; at = layout.block(at).next) {
      const Block& block = layout.block(at);
      if (block.use != allocator::BlockUse::kPendingFree) continue;
      WaitingBlock one{block, subject.describe(block, moment), stream, {}};
      for (const uint64_t other : subject.history.streams)
        if (other != stream) one.waits_for.push_back(other);
      waiting.push_back(std::move(one));
    }
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const WaitingBlock& a, const WaitingBlock& b) {
    return a.block.bytes > b.block.bytes;
  });
  return waiting;
}

}  // namespace

MomentAnswer AnswerFor(const Subject& subject, const Layout& layout, Moment moment,
                       const std::string& asked) {
  MomentAnswer answer;
  answer.asked = asked;
  answer.moment = moment;
  if (subject.origins != nullptr) answer.trace_events = subject.TraceEvents(moment);
  answer.time_ns = subject.TimeOf(moment);
  answer.place = subject.place(moment);
  answer.metrics = Measure(layout);
  answer.driver_free = subject.DriverFree(moment, answer.metrics.total.reserved);
  answer.largest_requests = LargestRequests(layout, answer.driver_free);
  if (answer.metrics.total.pending != 0) answer.waiting = WaitingBlocks(subject, layout, moment);
  return answer;
}

std::vector<SegmentAnswer> SegmentsOf(const Subject& subject, const Layout& layout, Moment moment,
                                      size_t most_segments, size_t most_pins) {
  std::vector<SegmentAnswer> answers;
  for (PinnedSegment& pinned : PinnedSegments(layout)) {
    if (most_segments != 0 && answers.size() == most_segments) break;
    SegmentAnswer answer;
    answer.segment = layout.segment(pinned.segment);
    answer.domain = layout.DomainOf(answer.segment);
    for (const BlockIndex index : pinned.pins) {
      if (most_pins != 0 && answer.pinned_by.size() == most_pins) break;
      const Block& block = layout.block(index);
      answer.pinned_by.push_back({block, subject.describe(block, moment)});
    }
    answer.pinned = std::move(pinned);
    answers.push_back(std::move(answer));
  }
  return answers;
}

Result<Answer> BuildAnswer(const Subject& subject, const LayoutWalk& walk, const Question& question) {
  if (!subject.has_layout) {
    return Error{"this " + subject.source +
                 " has no addresses of segments, so its fragmentation is not known. " +
                 "Record the driver's calls too (the default), or take a PyTorch snapshot."};
  }
  Answer answer;
  std::vector<std::string> asked = question.at;
  if (asked.empty()) asked.emplace_back("reserved");
  const size_t by_user = asked.size();
  asked.insert(asked.end(), {"reserved", "peak", "worst", "end"});
  for (size_t i = 0; i < subject.failures.size() && i < 16; ++i)
    asked.push_back("oom:" + std::to_string(i + 1));
  LayoutCursor cursor(walk);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (i >= by_user && std::find(asked.begin(), asked.begin() + static_cast<ptrdiff_t>(i), asked[i]) !=
                            asked.begin() + static_cast<ptrdiff_t>(i)) {
      continue;
    }
    const Moment moment = VRAMSCOPE_TRY(FindMoment(subject, walk, asked[i]));
    const Layout& layout = cursor.Seek(moment);
    answer.moments.push_back(AnswerFor(subject, layout, moment, asked[i]));
    if (i != 0) continue;
    answer.segments = SegmentsOf(subject, layout, moment, question.segments, question.pins);
    answer.segment_count = PinnedSegments(layout).size();
  }
  for (const StepSpan& step : subject.steps) {
    answer.moments.push_back(
        AnswerFor(subject, cursor.Seek(step.end), step.end, "end of step " + std::to_string(step.number)));
  }
  answer.chosen = answer.moments.front();
  if (question.points != 0) answer.series = SeriesOf(subject, walk, question.points);
  answer.events = subject.history.events.size();
  answer.peak_reserved = walk.peak_reserved();
  answer.peak_allocated = walk.peak_allocated();
  answer.peak_requested = walk.peak_requested();
  answer.troubles = walk.troubles();
  answer.notes = NotesOf(subject, walk.troubles());
  return answer;
}

}  // namespace vramscope::fragmentation
