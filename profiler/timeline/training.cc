// SPDX-License-Identifier: Apache-2.0
// The walk: windows of backward and optimizer from left to right, gaps between them, windows inside them.
//
//   gap before a backward window      evaluations, data, prepare, forward       (forward_begin.h)
//   gap from backward to optimizer    update, if nothing but tensor arithmetic happens there
//   any other gap                     data; modules or compute on a loaded batch = evaluation; else other
//   inside an optimizer window        forward only where a backward window follows (LBFGS), else optimizer
#include "profiler/timeline/training.h"

#include <algorithm>
#include <tuple>

#include "profiler/timeline/forward_begin.h"

namespace vramscope::timeline {

using model::EventIndex;

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kOther:
      return "other";
    case Phase::kData:
      return "data";
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
  }
  return "other";
}

Phase PhaseOf(Part part) {
  switch (part) {
    case Part::kOther:
    case Part::kPrepare:
      return Phase::kOther;
    case Part::kData:
      return Phase::kData;
    case Part::kForward:
    case Part::kEvaluation:
      return Phase::kForward;
    case Part::kBackward:
      return Phase::kBackward;
    case Part::kUpdate:
    case Part::kOptimizer:
      return Phase::kOptimizer;
  }
  return Phase::kOther;
}

namespace {

std::vector<Interval> DeepWindows(const model::Run& run, model::ProcessIndex process) {
  std::vector<Interval> windows;
  for (const uint32_t index : run.processes[process].marks) {
    const model::Mark& mark = run.marks[index];
    if (mark.kind == trace::MarkKind::kDeepBegin) windows.push_back({mark.event, model::kNever});
    if (mark.kind == trace::MarkKind::kDeepEnd && !windows.empty()) windows.back().end = mark.event;
  }
  return windows;
}

}  // namespace

class TrainingBuilder {
 public:
  TrainingBuilder(const model::Run& run, model::ProcessIndex process)
      : run_(run),
        process_(process),
        windows_(FindWindows(run, process)),
        ends_(FindStepEnds(run, process, windows_)),
        forward_(run, process, windows_),
        deep_(DeepWindows(run, process)) {}

  Training Build() {
    LearnForward(windows_.outermost, 0);
    micro_batch_ = 0;
    next_end_ = 0;
    FillProcess();
    FindSteps();
    CutSpansAtSteps();
    result_.other_data_ = std::move(windows_.other_data);
    result_.step_source_ = ends_.source;
    return std::move(result_);
  }

 private:
  void LearnForward(const std::vector<Window>& windows, EventIndex begin) {
    for (const Window& window : windows) {
      if (window.optimizer) {
        LearnForward(window.inside, window.begin);
      } else {
        forward_.Learn(GapBefore(window, begin));
      }
      begin = window.end;
    }
  }

  // The gap between `begin` and a backward window. It also numbers the micro-batches of a step, so it must be
  // called for gaps in order.
  Gap GapBefore(const Window& window, EventIndex begin) {
    while (next_end_ < ends_.ends.size() && ends_.ends[next_end_] <= begin) {
      ++next_end_;
      micro_batch_ = 0;
    }
    return {begin, window.begin, window.thread, static_cast<uint32_t>(next_end_), micro_batch_++, true};
  }

  void FillProcess() {
    result_.spans_.clear();
    Emit(0, Part::kOther);
    EventIndex at = 0;
    bool after_backward = false;
    for (const Window& window : windows_.outermost) {
      if (window.optimizer) {
        FillBeforeOptimizer(at, window, after_backward);
        FillOptimizer(window);
      } else {
        FillBeforeBackward(GapBefore(window, at));
        FillBackward(window);
      }
      at = window.end;
      after_backward = !window.optimizer;
    }
    FillIdle(at, run_.event_count());
    auto& spans = result_.spans_;
    while (spans.size() > 1 && spans.back().begin >= run_.event_count()) spans.pop_back();
  }

  void FillBackward(const Window& window) {
    Emit(window.begin, Part::kBackward);
    for (const Window& inside : window.inside) {
      if (!inside.optimizer) continue;
      Emit(inside.begin, Part::kOptimizer);
      Emit(inside.end, Part::kBackward);
    }
  }

  void FillOptimizer(const Window& window) {
    NoteTraining(window.begin, ForwardBegin::Within(windows_.data, 0, window.begin));
    EventIndex at = window.begin;
    for (const Window& inside : window.inside) {
      if (inside.optimizer) continue;
      const Gap gap = GapBefore(inside, at);
      Emit(at, Part::kOptimizer);
      Emit(forward_.Find(gap).forward, Part::kForward, inside.begin);
      FillBackward(inside);
      at = inside.end;
    }
    Emit(at, Part::kOptimizer);
  }

  void FillBeforeBackward(const Gap& gap) {
    const ForwardEdges edges = forward_.Find(gap);
    const auto data = ForwardBegin::Within(windows_.data, gap.begin, gap.end);
    NoteTraining(edges.forward, data.first(edges.data_before));
    if (edges.data_before > 0) {
      FillCalls(gap.begin, data[0].begin);
      FillBatches(data.first(edges.data_before), edges.anchor);
    }
    Emit(edges.anchor, Part::kPrepare, gap.end);
    Emit(edges.forward, Part::kForward, gap.end);
    for (const Interval& ahead : data.subspan(edges.data_before)) {  // fetched before backward
      Emit(ahead.begin, Part::kData);
      Emit(ahead.end, Part::kForward, gap.end);
    }
  }

  void FillBeforeOptimizer(EventIndex begin, const Window& optimizer, bool after_backward) {
    const EventIndex end = optimizer.begin;
    const auto data = ForwardBegin::Within(windows_.data, begin, end);
    const bool only_arithmetic = data.empty() && ForwardBegin::Within(windows_.modules, begin, end).empty() &&
                                 forward_.FirstSave(begin, end) == end;
    const auto backward = std::find_if(optimizer.inside.begin(), optimizer.inside.end(),
                                       [](const Window& window) { return !window.optimizer; });
    if (after_backward && only_arithmetic) {
      Emit(begin, Part::kUpdate);
      return;
    }
    FillIdle(begin, end);
    if (backward != optimizer.inside.end()) {  // LBFGS: the batch is ready, forward runs inside
      Emit(data.empty() ? begin : data.back().end, Part::kPrepare, backward->begin);
    }
  }

  // A gap without a following backward pass. If autograd saves something in it, that belongs to a forward
  // that was cut off or discarded.
  void FillIdle(EventIndex begin, EventIndex end) {
    const auto data = ForwardBegin::Within(windows_.data, begin, end);
    const EventIndex first_data = data.empty() ? end : data.front().begin;
    if (forward_.FirstSave(begin, first_data) != first_data) {
      FillForward(begin, first_data);
    } else {
      FillCalls(begin, first_data);
    }
    FillBatches(data, end);
  }

  // The data windows and the computation on each batch, up to `end`.
  void FillBatches(std::span<const Interval> data, EventIndex end) {
    for (size_t i = 0; i < data.size(); ++i) {
      const EventIndex batch_end = i + 1 < data.size() ? data[i + 1].begin : end;
      Emit(data[i].begin, Part::kData);
      if (forward_.FirstSave(data[i].end, batch_end) != batch_end) {
        FillForward(data[i].end, batch_end);
      } else {
        Emit(data[i].end, Part::kEvaluation);
      }
    }
  }

  void FillForward(EventIndex begin, EventIndex end) {
    Emit(begin, Part::kPrepare);
    Emit(forward_.Find({.begin = begin, .end = end}).forward, Part::kForward);
  }

  // Time without batches: module calls and autocast regions are forward, the rest is unknown.
  void FillCalls(EventIndex begin, EventIndex end) {
    std::vector<Interval> calls;
    for (const auto* intervals : {&windows_.modules, &windows_.autocast}) {
      const auto within = ForwardBegin::Within(*intervals, begin, end);
      calls.insert(calls.end(), within.begin(), within.end());
    }
    std::sort(calls.begin(), calls.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    Emit(begin, Part::kOther);
    EventIndex done = begin;
    for (const Interval& call : calls) {
      if (call.begin >= done) Emit(call.begin, Part::kEvaluation);
      if (call.end > done) Emit(done = std::min(call.end, end), Part::kOther);
    }
  }

  // The time from `begin` on is `part`. Spans that begin at or after `begin` are removed.
  void Emit(EventIndex begin, Part part, EventIndex backward = model::kNever) {
    auto& spans = result_.spans_;
    while (!spans.empty() && spans.back().begin >= begin) spans.pop_back();
    const bool goes_on = !spans.empty() && spans.back().part == part && spans.back().backward == backward;
    if (!goes_on) spans.push_back({begin, 0, part, backward});
  }

  // Training on the last of `batches` begins at `forward`. The first call determines where step 1 begins.
  void NoteTraining(EventIndex forward, std::span<const Interval> batches) {
    if (first_step_begin_ != model::kNever) return;
    first_step_begin_ = batches.empty() ? forward : batches.back().begin;
  }

  void FindSteps() {
    EventIndex begin = first_step_begin_;
    if (!ends_.ends.empty() && begin >= ends_.ends.front()) begin = 0;
    for (const EventIndex end : ends_.ends) {
      AddStep(begin, end, true);
      begin = end;
    }
    if (TailIsAStep(ends_.ends.empty() ? 0 : begin)) {
      AddStep(begin == model::kNever ? FirstForwardSpan() : begin, run_.event_count(), false);
    }
  }

  void AddStep(EventIndex begin, EventIndex end, bool complete) {
    const auto number = static_cast<uint32_t>(result_.steps_.size() + 1);
    result_.steps_.push_back({number, begin, end, complete, IsDeep(begin, end)});
  }

  // True if the trace ends inside a step: another backward ran, or the end of the process cut off a forward.
  // (A last forward in a process that ended normally is an evaluation.)
  [[nodiscard]] bool TailIsAStep(EventIndex begin) const {
    bool forward = false;
    for (const Span& span : result_.spans_) {
      if (span.begin < begin) continue;
      if (span.part == Part::kBackward) return true;
      forward = forward || span.part == Part::kForward;
    }
    return forward && run_.processes[process_].info.exit_status != 0;
  }

  [[nodiscard]] EventIndex FirstForwardSpan() const {
    const auto& spans = result_.spans_;
    const auto found = std::find_if(spans.begin(), spans.end(),
                                    [](const Span& span) { return span.part == Part::kForward; });
    return found == spans.end() ? 0 : found->begin;
  }

  // The marks of a deep window are a few events away from the edges of its steps, so the middle of a step is
  // checked.
  [[nodiscard]] bool IsDeep(EventIndex begin, EventIndex end) const {
    const EventIndex middle = begin + (end - begin) / 2;
    const auto begun = ForwardBegin::Within(deep_, 0, middle + 1);
    const bool marked = !begun.empty() && middle < begun.back().end;
    return marked || !ForwardBegin::Within(windows_.modules, begin, end).empty();
  }

  void CutSpansAtSteps() {
    std::vector<Span> cuts;
    for (const Step& step : result_.steps_) cuts.push_back({.begin = step.begin, .step = step.number});
    if (!cuts.empty()) cuts.push_back({.begin = result_.steps_.back().end, .step = 0});

    std::vector<Span> cut;
    uint32_t step = 0;
    auto next = cuts.begin();
    for (size_t i = 0; i < result_.spans_.size(); ++i) {
      Span span = result_.spans_[i];
      const EventIndex end = i + 1 < result_.spans_.size() ? result_.spans_[i + 1].begin : model::kNever;
      for (; next != cuts.end() && next->begin < end; ++next) {
        if (next->begin > span.begin) {
          span.step = step;
          cut.push_back(span);
          span.begin = next->begin;
        }
        step = next->step;
      }
      span.step = step;
      cut.push_back(span);
    }
    result_.spans_ = std::move(cut);
  }

  const model::Run& run_;
  model::ProcessIndex process_;
  TrainingWindows windows_;
  StepEnds ends_;
  ForwardBegin forward_;
  std::vector<Interval> deep_;  // between kDeepBegin and kDeepEnd
  Training result_;
  EventIndex first_step_begin_ = model::kNever;
  size_t next_end_ = 0;
  uint32_t micro_batch_ = 0;
};

const Span& Training::SpanAt(EventIndex at) const {
  const auto next = std::upper_bound(spans_.begin(), spans_.end(), at,
                                     [](EventIndex event, const Span& span) { return event < span.begin; });
  return next == spans_.begin() ? spans_.front() : *(next - 1);
}

const Step* Training::StepAt(EventIndex at) const { return StepNumber(SpanAt(at).step); }

const Step* Training::StepNumber(uint32_t number) const {
  return number == 0 || number > steps_.size() ? nullptr : &steps_[number - 1];
}

Part Training::PartOf(model::ThreadIndex thread, EventIndex at) const {
  return LoadsDataBeside(thread, at) ? Part::kData : SpanAt(at).part;
}

bool Training::LoadsDataBeside(model::ThreadIndex thread, EventIndex at) const {
  if (other_data_.empty()) return false;
  const auto next = std::upper_bound(other_data_.begin(), other_data_.end(), std::tie(thread, at),
                                     [](const auto& key, const ThreadInterval& interval) {
                                       return key < std::tie(interval.thread, interval.interval.begin);
                                     });
  if (next == other_data_.begin()) return false;
  const ThreadInterval& last = *(next - 1);
  return last.thread == thread && at < last.interval.end;
}

Training FindTraining(const model::Run& run, model::ProcessIndex process) {
  return TrainingBuilder(run, process).Build();
}

}  // namespace vramscope::timeline
