// SPDX-License-Identifier: Apache-2.0
#include "profiler/leaks/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/classify/origin.h"
#include "profiler/report/device_choice.h"
#include "profiler/report/owners.h"
#include "profiler/timeline/curve.h"

namespace vramscope::leaks {
namespace {

using model::BlockId;
using model::EventIndex;

constexpr size_t kTail =
    2;  // steps at the end whose blocks may be on their way: the last one, and what was fetched ahead
constexpr size_t kWarmUp = 2;  // steps at the begin that make what all later ones use

// Where a block comes from, as far as it is known; equal for the blocks of one place in the program.
struct Place {
  std::string_view line;
  std::string_view module;
  std::string_view op;
  timeline::Phase phase{};
  Keeper keeper{};
  bool pinned_host = false;
  auto operator<=>(const Place&) const = default;
};

struct Survivors {
  std::map<uint32_t, uint64_t> bytes_of_step;  // step number -> bytes
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint32_t as_in_step = 0;
};

class Finder {
 public:
  Finder(const classify::Analysis& analysis, const timeline::DeviceCurve& curve)
      : analysis_(analysis),
        run_(analysis.run()),
        curve_(curve),
        training_(analysis.training()[curve.device().process]),
        origins_(run_, analysis.training()) {
    for (const timeline::Step& step : training_.steps()) {
      if (step.complete) steps_.push_back(&step);
    }
  }

  Result<Answer> Find() {
    if (steps_.size() < kFewestSteps) {
      return Error{fmt::format("{} finished step{}: growth can be told from {} on. Record more steps.",
                               steps_.size(), steps_.size() == 1 ? "" : "s", kFewestSteps)};
    }
    answer_.steps = static_cast<uint32_t>(steps_.size());
    answer_.first_judged = Judged(0)->number;
    answer_.last_judged = Judged(JudgedCount() - 1)->number;
    answer_.bytes_per_step = Slope();
    for (const timeline::Step* step : steps_)
      answer_.ends.push_back({step->number, curve_.AllocatedAfter(step->end - 1)});
    CollectSurvivors();
    CollectPinned();
    MergeGraphs();
    for (const auto& [place, survivors] : places_) Add(place, survivors);
    const auto more = [](const Growth& a, const Growth& b) {
      return std::tie(b.bytes_per_step, b.bytes, a.line, a.op) <
             std::tie(a.bytes_per_step, a.bytes, b.line, b.op);
    };
    std::sort(answer_.leaks.begin(), answer_.leaks.end(), more);
    std::sort(answer_.settled.begin(), answer_.settled.end(), more);
    return std::move(answer_);
  }

 private:
  [[nodiscard]] size_t JudgedCount() const { return steps_.size() - kWarmUp - kTail; }
  [[nodiscard]] const timeline::Step* Judged(size_t i) const { return steps_[kWarmUp + i]; }

  // Of the allocated bytes at the ends of the judged steps, in bytes per step.
  [[nodiscard]] int64_t Slope() const {
    const auto n = static_cast<double>(JudgedCount());
    double sum_xy = 0, sum_y = 0;
    for (size_t i = 0; i < JudgedCount(); ++i) {
      const auto bytes = static_cast<double>(curve_.AllocatedAfter(Judged(i)->end - 1));
      sum_y += bytes;
      sum_xy += static_cast<double>(i) * bytes;
    }
    const double mean_x = (n - 1) / 2;
    return static_cast<int64_t>((sum_xy - mean_x * sum_y) / (n * (n * n - 1) / 12));
  }

  void CollectSurvivors() {
    const EventIndex end = steps_.back()->end;
    const EventIndex tail = steps_[steps_.size() - kTail]->begin;
    for (BlockId id = 0; id < run_.blocks.size(); ++id) {
      const model::Block& block = run_.blocks[id];
      if (block.alloc_event >= tail) break;
      if (block.free_event < end || block.device_code != curve_.device().code ||
          run_.ProcessOf(block) != curve_.device().process)
        continue;
      const timeline::Step* const step = training_.StepAt(block.alloc_event);
      if (step == nullptr) continue;
      const classify::Origin origin = origins_.Of(id);
      Survivors& survivors = places_[PlaceOf(id, origin)];
      survivors.bytes_of_step[step->number] += block.size;
      survivors.bytes += block.size;
      ++survivors.blocks;
      survivors.as_in_step = std::max(survivors.as_in_step, origin.as_in_step);
      answer_.has_stacks |= origin.stack != 0;
    }
  }

  // Host memory has no blocks, so light steps are not compared with deep ones: what is of one size and
  // library is taken for one place.
  void CollectPinned() {
    const EventIndex end = steps_.back()->end;
    const EventIndex tail = steps_[steps_.size() - kTail]->begin;
    const auto concerns = [&](const model::DriverAllocation& made) {
      return made.kind == trace::DriverMemory::kHostPinned && made.process == curve_.device().process &&
             made.begin < tail && made.end >= end;
    };
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> stacks;  // library, size
    for (const model::DriverAllocation& made : run_.driver.allocations) {
      if (concerns(made) && made.stack != 0) stacks[{made.library, made.size}] = made.stack;
    }
    for (const model::DriverAllocation& made : run_.driver.allocations) {
      const timeline::Step* const step = concerns(made) ? training_.StepAt(made.begin) : nullptr;
      if (step == nullptr) continue;
      Place place;
      const auto stack = stacks.find({made.library, made.size});
      if (stack != stacks.end()) place.line = frames_.Of(stack->second);
      place.op = run_.Text(made.api);
      place.phase = timeline::PhaseOf(training_.SpanAt(made.begin).part);
      place.pinned_host = true;
      Survivors& survivors = places_[place];
      survivors.bytes_of_step[step->number] += made.size;
      survivors.bytes += made.size;
      ++survivors.blocks;
      answer_.has_stacks |= !place.line.empty();
    }
  }

  [[nodiscard]] Place PlaceOf(BlockId id, const classify::Origin& origin) {
    const model::Block& block = run_.blocks[id];
    const model::BlockFacts* const facts = run_.FactsOf(block);
    const bool saved =
        facts != nullptr && facts->first_saved != model::kNever && facts->released >= steps_.back()->end;
    const model::Birthplace& birth = run_.contexts.PlaceOf(origin.context);
    Place place;
    place.line = frames_.Of(origin.stack);
    place.module = run_.Text(birth.module);
    place.op = run_.Text(birth.node != 0 ? birth.node : birth.op);
    place.phase = timeline::PhaseOf(training_.PartOf(block.thread, block.alloc_event));
    place.keeper = saved && !IsForLife(id) ? Keeper::kGraph : Keeper::kProgram;
    return place;
  }

  // A parameter that autograd has saved is no part of a graph that was kept.
  [[nodiscard]] bool IsForLife(BlockId id) const {
    const classify::Category category = analysis_.categories().At(id, steps_.back()->end - 1).category;
    return category == classify::Category::kParameter || category == classify::Category::kBuffer ||
           category == classify::Category::kOptimizerState || category == classify::Category::kGradient;
  }

  // A graph that is kept keeps the tensors of many places; it is one leak, named by the place that has most.
  void MergeGraphs() {
    const Place* named = nullptr;
    Survivors all;
    for (const auto& [place, survivors] : places_) {
      if (place.keeper != Keeper::kGraph || !Leaks(survivors)) continue;
      if (named == nullptr || survivors.bytes > places_.at(*named).bytes) named = &place;
      ++graph_places_;
    }
    if (named == nullptr) return;
    const Place name = *named;
    // What the program keeps of the same line is the end of the graph, a sum or a loss.
    const auto belongs = [&](const Place& place) {
      return place.keeper == Keeper::kGraph ||
             (!place.line.empty() && place.line == name.line && !place.pinned_host);
    };
    for (const auto& [place, survivors] : places_) {
      if (!belongs(place) || !Leaks(survivors)) continue;
      for (const auto& [step, bytes] : survivors.bytes_of_step) all.bytes_of_step[step] += bytes;
      all.bytes += survivors.bytes;
      all.blocks += survivors.blocks;
      all.as_in_step = std::max(all.as_in_step, survivors.as_in_step);
    }
    std::erase_if(places_, [&](const auto& entry) { return belongs(entry.first) && Leaks(entry.second); });
    places_[name] = std::move(all);
  }

  [[nodiscard]] bool Leaks(const Survivors& survivors) const {
    size_t steps = 0;
    bool in_third[3] = {};
    for (size_t i = 0; i < JudgedCount(); ++i) {
      if (!survivors.bytes_of_step.contains(Judged(i)->number)) continue;
      ++steps;
      in_third[3 * i / JudgedCount()] = true;
    }
    return steps >= 3 && in_third[0] && in_third[1] && in_third[2];
  }

  void Add(const Place& place, const Survivors& survivors) {
    const bool leaks = Leaks(survivors);
    if (!leaks && survivors.bytes_of_step.size() < 2) return;  // made once
    Growth growth;
    growth.line = place.line;
    growth.module = place.module;
    growth.op = place.op;
    growth.phase = place.phase;
    growth.keeper = place.keeper;
    growth.pinned_host = place.pinned_host;
    growth.places = leaks && place.keeper == Keeper::kGraph ? graph_places_ : 1;
    growth.as_in_step = survivors.as_in_step;
    growth.first_step = survivors.bytes_of_step.begin()->first;
    growth.last_step = survivors.bytes_of_step.rbegin()->first;
    growth.steps = static_cast<uint32_t>(survivors.bytes_of_step.size());
    growth.blocks = survivors.blocks;
    growth.bytes = survivors.bytes;
    uint64_t judged = 0;
    for (const auto& [step, bytes] : survivors.bytes_of_step) {
      growth.kept.push_back({step, bytes});
      if (step >= answer_.first_judged && step <= answer_.last_judged) judged += bytes;
    }
    growth.bytes_per_step = judged / JudgedCount();
    (leaks ? answer_.leaks : answer_.settled).push_back(std::move(growth));
  }

  const classify::Analysis& analysis_;
  const model::Run& run_;
  report::FramesToShow frames_{run_};
  const timeline::DeviceCurve& curve_;
  const timeline::Training& training_;
  classify::Origins origins_;
  std::vector<const timeline::Step*> steps_;  // finished ones
  std::map<Place, Survivors> places_;
  uint32_t graph_places_ = 0;
  Answer answer_;
};

}  // namespace

Result<Answer> FindGrowth(const classify::Analysis& analysis, const report::Request& request) {
  const model::Run& run = analysis.run();
  std::vector<timeline::DeviceCurve> curves;
  for (model::DeviceIndex device = 0; device < run.devices.size(); ++device) curves.emplace_back(run, device);
  const Result<model::DeviceIndex> device = report::ChooseDevice(run, curves, request);
  if (!device.ok()) return device.error();
  if (*device == model::kNone) return Error{"nothing was allocated in this run, so nothing can grow."};
  Result<Answer> answer = Finder(analysis, curves[*device]).Find();
  if (!answer.ok()) return answer.error();
  answer->device = curves[*device].device().name;
  answer->pid = run.processes[curves[*device].device().process].info.pid;
  return answer;
}

}  // namespace vramscope::leaks
