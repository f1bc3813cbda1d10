// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/slices.h"

#include <algorithm>
#include <map>

#include "profiler/text/harmless.h"

namespace vramscope::exporting {
namespace {

using model::EventIndex;

const char* KindName(trace::RangeKind kind) {
  switch (kind) {
    case trace::RangeKind::kBackward:
      return "backward";
    case trace::RangeKind::kOptimizer:
      return "optimizer";
    case trace::RangeKind::kDataLoader:
      return "data_loader";
    case trace::RangeKind::kModule:
      return "module";
    case trace::RangeKind::kScope:
      return "scope";
    case trace::RangeKind::kAutocast:
      return "autocast";
    case trace::RangeKind::kCheckpoint:
      return "checkpoint";
    case trace::RangeKind::kNvtx:
      return "nvtx";
    case trace::RangeKind::kZeroGrad:
      return "zero_grad";
    case trace::RangeKind::kGraphReplay:
      return "graph_replay";
  }
  return "range";
}

class Finder {
 public:
  explicit Finder(const Content& content) : content_(content), run_(content.run()) {}

  Slices Find() {
    for (model::ProcessIndex process = 0; process < run_.processes.size(); ++process) {
      AddSteps(process);
      AddPhases(process);
    }
    AddRanges();
    return std::move(slices_);
  }

 private:
  size_t AddTrack(Track track) {
    slices_.tracks.push_back(std::move(track));
    return slices_.tracks.size() - 1;
  }
  void Begin(size_t track, EventIndex at, std::string name, const char* kind) {
    slices_.edges.push_back({track, run_.times.TimeOf(at), true, std::move(name), kind});
  }
  void End(size_t track, EventIndex at) {
    slices_.edges.push_back({track, run_.times.TimeOf(at), false, "", ""});
  }

  void AddSteps(model::ProcessIndex process) {
    const auto& steps = content_.TrainingOf(process).steps();
    if (steps.empty()) return;
    const size_t track = AddTrack({Track::Kind::kSteps, process, 0, "steps"});
    for (const timeline::Step& step : steps) {
      Begin(track, step.begin, "step " + std::to_string(step.number), "step");
      End(track, step.end);
    }
  }

  void AddPhases(model::ProcessIndex process) {
    const timeline::Training& training = content_.TrainingOf(process);
    if (training.steps().empty()) return;
    const size_t track = AddTrack({Track::Kind::kPhases, process, 0, "phases"});
    const auto& spans = training.spans();
    for (size_t i = 0; i < spans.size();) {
      const timeline::Phase phase = timeline::PhaseOf(spans[i].part);
      size_t next = i + 1;
      while (next < spans.size() && spans[next].step == spans[i].step &&
             timeline::PhaseOf(spans[next].part) == phase)
        ++next;
      if (phase != timeline::Phase::kOther) {
        Begin(track, spans[i].begin, timeline::PhaseName(phase), "phase");
        End(track, next < spans.size() ? spans[next].begin : model::kNever);
      }
      i = next;
    }
  }

  void AddRanges() {
    std::map<model::ThreadIndex, std::vector<const model::Range*>> by_thread;
    for (const model::Range& range : run_.ranges) {
      const bool may_cross = range.kind == trace::RangeKind::kNvtx && range.id != 0;
      if (!may_cross) by_thread[range.thread].push_back(&range);
    }
    for (const auto& [thread, ranges] : by_thread) {
      const trace::ThreadInfo& info = run_.threads[thread].info;
      const std::string name =
          info.name.empty() ? "thread " + std::to_string(info.os_thread) : text::Clean(info.name);
      const size_t track = AddTrack({Track::Kind::kThread, run_.threads[thread].process, thread, name});
      std::vector<EventIndex> open;  // ends of the open ranges, innermost last
      const auto close_until = [&](EventIndex at) {
        for (; !open.empty() && open.back() <= at; open.pop_back()) End(track, open.back());
      };
      for (const model::Range* range : ranges) {
        close_until(range->begin);
        Begin(track, range->begin, NameOf(*range), KindName(range->kind));
        open.push_back(open.empty() ? range->end : std::min(open.back(), range->end));
      }
      close_until(model::kNever);
    }
  }

  [[nodiscard]] std::string NameOf(const model::Range& range) const {
    const std::string name = text::Clean(run_.Text(range.name));
    return name.empty() ? KindName(range.kind) : name;
  }

  const Content& content_;
  const model::Run& run_;
  Slices slices_;
};

}  // namespace

Slices FindSlices(const Content& content) { return Finder(content).Find(); }

}  // namespace vramscope::exporting
