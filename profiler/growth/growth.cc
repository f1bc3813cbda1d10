// SPDX-License-Identifier: Apache-2.0
#include "profiler/growth/growth.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/classify/origin.h"
#include "profiler/growth/keepers.h"
#include "profiler/growth/place.h"
#include "profiler/growth/replaced.h"
#include "profiler/growth/survivors.h"

namespace vramscope::growth {
namespace {

using model::BlockId;
using model::EventIndex;

constexpr size_t kTail = 2;  // steps at the end whose blocks may still be freed: those of the last step, and
                             // prefetched batches
constexpr size_t kWarmUp = 2;                      // steps at the start, which allocate memory that stays
constexpr size_t kFewSteps = kWarmUp + 3 + kTail;  // with fewer, all steps are judged
constexpr size_t kFewestTimes = 3;

class Finder {
 public:
  Finder(const classify::Analysis& analysis, const timeline::DeviceCurve& curve, EventIndex until)
      : analysis_(analysis),
        run_(analysis.run()),
        device_(curve.device()),
        training_(analysis.training()[device_.process]),
        until_(until),
        keepers_(analysis, device_.process, until),
        origins_(run_, analysis.training()),
        at_(analysis, device_.process) {
    for (const timeline::Step& step : training_.steps()) {
      if (step.complete && step.end <= until + 1) steps_.push_back(&step);
    }
    later_ = steps_.empty() || until + 1 > steps_.back()->end ? until : LastAllocation();
  }

  Found Find() && {
    found_.steps = static_cast<uint32_t>(steps_.size());
    if (steps_.size() < kFewestSteps) return std::move(found_);
    const size_t warm_up = steps_.size() < kFewSteps ? 0 : kWarmUp;
    found_.first_judged = static_cast<uint32_t>(warm_up + 1);
    found_.last_judged = static_cast<uint32_t>(steps_.size() < kFewSteps ? steps_.size() : LastSure());
    CollectSurvivors();
    CollectPinned();
    for (auto& [place, survivors] : places_) {
      survivors.JoinSides();
      if (survivors.bytes_of_step.size() > kTail) told_.insert({place.line, place.module, place.op});
    }
    MergeGraphs();
    for (const auto& [place, survivors] : places_) Add(place, survivors);
    AddReplaced();
    const auto more = [](const Growth& a, const Growth& b) {
      return std::tie(b.bytes_per_step, b.bytes, a.line, a.op) <
             std::tie(a.bytes_per_step, a.bytes, b.line, b.op);
    };
    std::sort(found_.leaks.begin(), found_.leaks.end(), more);
    std::sort(found_.settled.begin(), found_.settled.end(), more);
    return std::move(found_);
  }

 private:
  // The last step before the tail: if its blocks are alive at the end, they are kept.
  [[nodiscard]] uint32_t LastSure() const {
    return static_cast<uint32_t>(steps_.size() - std::min(steps_.size(), kTail));
  }
  [[nodiscard]] uint32_t JudgedCount() const { return found_.last_judged - found_.first_judged + 1; }

  // The step that an allocation at event `at` counts toward, from 1. 0 before the first step; the number of
  // steps + 1 after the last one.
  [[nodiscard]] uint32_t StepOf(EventIndex at) const {
    const timeline::Span& span = training_.SpanAt(at);
    const bool is_idle = timeline::PhaseOf(span.part) == timeline::Phase::kOther;
    const timeline::Step* const step = training_.StepNumber(span.step);
    if (step == nullptr || step->number > found_.steps) {
      if (at < steps_.back()->end) return 0;
      return is_idle && span.begin == steps_.back()->end ? found_.steps : found_.steps + 1;
    }
    const bool between = is_idle && span.begin == step->begin;
    return between && step->number > 1 ? step->number - 1 : step->number;
  }

  [[nodiscard]] bool IsOfDevice(const model::Block& block) const {
    return block.device_code == device_.code && run_.ProcessOf(block) == device_.process;
  }

  // The event of the last allocation. Frees after it happen only because the program ends.
  [[nodiscard]] EventIndex LastAllocation() const {
    EventIndex last = until_;
    for (const model::Change& change : device_.changes)
      if (!change.freed()) last = std::max(last, change.event);
    return last;
  }

  // True if memory that exists from `begin` to `end` is alive after `until_`. If it is allocated after
  // `until_`, it must be alive after `later_`.
  [[nodiscard]] bool Survives(EventIndex begin, EventIndex end) const {
    return end > (begin <= until_ ? until_ : later_);
  }

  void CollectSurvivors() {
    for (BlockId id = 0; id < run_.blocks.size(); ++id) {
      const model::Block& block = run_.blocks[id];
      if (block.alloc_event > later_) break;
      if (!Survives(block.alloc_event, block.free_event) || !IsOfDevice(block)) continue;
      const uint32_t step = StepOf(block.alloc_event);
      if (step == 0) continue;
      const classify::Origin origin = origins_.Of(id);
      Survivors& survivors = places_[at_.Of(id, origin, keepers_.Of(id))];
      survivors.Add(step, block.Requested());
      survivors.as_in_step = std::max(survivors.as_in_step, origin.as_in_step);
      found_.has_stacks |= origin.stack != 0;
    }
  }

  // Host memory has no blocks, so classify::Origins gives no place for light steps. Instead, allocations of
  // the same size by the same library count as one place.
  void CollectPinned() {
    const auto concerns = [&](const model::DriverAllocation& made) {
      return made.kind == trace::DriverMemory::kHostPinned && made.process == device_.process &&
             made.begin <= later_ && Survives(made.begin, made.end);
    };
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> stacks;  // library, size
    for (const model::DriverAllocation& made : run_.driver.allocations) {
      if (concerns(made) && made.stack != 0) stacks[{made.library, made.size}] = made.stack;
    }
    for (const model::DriverAllocation& made : run_.driver.allocations) {
      const uint32_t step = concerns(made) ? StepOf(made.begin) : 0;
      if (step == 0) continue;
      Place place;
      const auto stack = stacks.find({made.library, made.size});
      if (stack != stacks.end()) place.line = at_.LineOf(stack->second);
      place.op = run_.Text(made.api);
      place.phase = timeline::PhaseOf(training_.SpanAt(made.begin).part);
      place.pinned_host = true;
      places_[place].Add(step, made.size);
      found_.has_stacks |= !place.line.empty();
    }
  }

  // The steps in which a place grows: the first one, and the distance in steps from one time to the next.
  struct Rhythm {
    uint32_t first = 0;
    uint32_t every = 0;
    [[nodiscard]] bool Pauses() const { return every > 1; }
    // True if equal. If both pause, they may differ by one step, because a step's end may lie in between.
    [[nodiscard]] bool IsLike(const Rhythm& other) const {
      const uint32_t most = Pauses() && other.Pauses() ? 1 : 0;
      const auto apart = [](uint32_t a, uint32_t b) { return a < b ? b - a : a - b; };
      return apart(first, other.first) <= most && apart(every, other.every) <= most;
    }
  };
  [[nodiscard]] static Rhythm RhythmOf(const Survivors& survivors) {
    return {survivors.bytes_of_step.begin()->first, Every(survivors)};
  }

  // Merges the places of a kept graph, which keeps tensors from many places. Places that grow in the same
  // steps are one leak. It gets the name of the place with the most bytes.
  void MergeGraphs() {
    std::vector<std::pair<Rhythm, std::vector<Place>>> graphs;
    for (const auto& [place, survivors] : places_) {
      if (place.keeper != Keeper::kGraph || !Leaks(place, survivors)) continue;
      const Rhythm rhythm = RhythmOf(survivors);
      const auto known = std::find_if(graphs.begin(), graphs.end(),
                                      [&](const auto& graph) { return graph.first.IsLike(rhythm); });
      if (known == graphs.end()) {
        graphs.push_back({rhythm, {place}});
      } else {
        known->second.push_back(place);
      }
    }
    for (const auto& [rhythm, parts] : graphs) MergeGraph(rhythm, parts);
  }

  void MergeGraph(const Rhythm& rhythm, const std::vector<Place>& parts) {
    const Place name = *std::max_element(parts.begin(), parts.end(), [&](const Place& a, const Place& b) {
      return places_.at(a).bytes < places_.at(b).bytes;
    });
    Survivors all = places_.at(name);
    for (const Place& part : parts) {
      if (part != name) all.Add(places_.at(part), rhythm.Pauses());
      places_.erase(part);
    }
    // The tensor at the end of the graph (a sum or a loss) is kept by the program. It is allocated at the
    // same line. Without lines, it is a tensor that is kept in the same steps.
    std::erase_if(places_, [&](const auto& entry) {
      const auto& [place, survivors] = entry;
      const bool with_it =
          name.line.empty() ? rhythm.Pauses() && RhythmOf(survivors).IsLike(rhythm) : place.line == name.line;
      const bool ends_it =
          place.keeper == Keeper::kProgram && !place.pinned_host && with_it && Leaks(place, survivors);
      if (ends_it) all.Add(survivors, rhythm.Pauses());
      return ends_it;
    });
    merged_[name] = parts.size();
    places_[name] = std::move(all);
  }

  [[nodiscard]] bool Leaks(const Place& place, const Survivors& survivors) {
    const bool few = steps_.size() < kFewSteps;
    return (few ? LeaksInFewSteps(place, survivors) : LeaksAllTheTime(survivors)) ||
           LeaksNowAndThen(survivors);
  }

  [[nodiscard]] bool LeaksAllTheTime(const Survivors& survivors) const {
    size_t steps = 0;
    bool in_third[3] = {};
    for (const auto& [step, bytes] : survivors.bytes_of_step) {
      if (step < found_.first_judged || step > found_.last_judged) continue;
      ++steps;
      in_third[3 * (step - found_.first_judged) / JudgedCount()] = true;
    }
    return steps >= kFewestTimes && in_third[0] && in_third[1] && in_third[2];
  }

  // True if the place leaves survivors at equal distances, for example after each epoch.
  [[nodiscard]] bool LeaksNowAndThen(const Survivors& survivors) const {
    const auto& times = survivors.bytes_of_step;
    const uint32_t every = Every(survivors);
    if (every < 2 || times.size() < kFewestTimes) return false;
    if (std::next(times.rbegin())->first > LastSure()) return false;  // only one time may be in the tail
    const auto [least, most] = std::minmax_element(
        times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool alike = most->second - least->second <= most->second / 8;
    return alike && found_.steps <= times.rbegin()->first + every;
  }

  [[nodiscard]] bool LeaksInFewSteps(const Place& place, const Survivors& survivors) {
    const auto& times = survivors.bytes_of_step;
    const bool in_most = times.size() >= std::max<size_t>(kFewestTimes, steps_.size() - 1);
    return in_most && times.begin()->first <= LastSure() && RisesAtTheEnd(place);
  }

  // True if the place has more bytes after each of the last two steps than after the step before it.
  [[nodiscard]] bool RisesAtTheEnd(const Place& place) {
    if (places_at_ends_.empty()) {
      for (BlockId id = 0; id < run_.blocks.size(); ++id) {
        const model::Block& block = run_.blocks[id];
        if (!IsOfDevice(block) || StepOf(block.alloc_event) == 0) continue;
        for (size_t i = 0; i < 3; ++i) {
          if (block.AliveAfter(steps_[steps_.size() - 3 + i]->end - 1))
            places_at_ends_[at_.Of(id, origins_.Of(id), keepers_.Of(id))][i] += block.Requested();
        }
      }
    }
    if (place.pinned_host) return false;
    const auto& bytes = places_at_ends_[place];
    return bytes[0] < bytes[1] && bytes[1] < bytes[2];
  }

  // The number of steps from one time to the next; 0 if the distances differ. They may differ by one, because
  // an allocation between two steps may count toward either of them.
  [[nodiscard]] static uint32_t Every(const Survivors& survivors) {
    std::vector<uint32_t> gaps;
    for (auto at = survivors.bytes_of_step.begin(); std::next(at) != survivors.bytes_of_step.end(); ++at)
      gaps.push_back(std::next(at)->first - at->first);
    if (gaps.empty()) return 0;
    std::sort(gaps.begin(), gaps.end());
    const bool equal = gaps.back() - gaps.front() <= (gaps.front() > 1 ? 1 : 0);
    return equal ? gaps[gaps.size() / 2] : 0;
  }

  [[nodiscard]] Growth GrowthAt(const Place& place, const Survivors& survivors) const {
    Growth growth;
    growth.line = place.line;
    growth.module = place.module;
    growth.op = place.op;
    growth.phase = place.phase;
    growth.keeper = place.keeper;
    growth.pinned_host = place.pinned_host;
    if (const auto merged = merged_.find(place); merged != merged_.end())
      growth.places = static_cast<uint32_t>(merged->second);
    growth.as_in_step = survivors.as_in_step;
    for (const auto& [step, bytes] : survivors.bytes_of_step) {
      const uint32_t last = std::min(step, found_.steps);  // bytes after the last step count toward it here
      if (growth.kept.empty() || growth.kept.back().step != last) growth.kept.push_back({last, 0});
      growth.kept.back().bytes += bytes;
    }
    growth.first_step = growth.kept.front().step;
    growth.last_step = growth.kept.back().step;
    growth.steps = static_cast<uint32_t>(growth.kept.size());
    growth.blocks = survivors.blocks;
    growth.bytes = survivors.bytes;
    growth.bytes_each_time = survivors.bytes / survivors.bytes_of_step.size();
    return growth;
  }

  void Add(const Place& place, const Survivors& survivors) {
    const bool leaks = Leaks(place, survivors);
    if (!leaks && survivors.bytes_of_step.size() < 2) return;  // allocated only once
    Growth growth = GrowthAt(place, survivors);
    growth.every = leaks ? Every(survivors) : 0;
    growth.bytes_per_step = growth.every != 0 ? growth.bytes_each_time / growth.every : Judged(survivors);
    (leaks ? found_.leaks : found_.settled).push_back(std::move(growth));
  }

  // Adds the bytes of known places to the unknown places of the same phase. In light steps a tensor's place
  // may be unknown although deep steps show it, so an unknown place may continue a known one.
  static void AddKnownToUnknown(std::map<Place, std::vector<uint64_t>>& at_ends) {
    for (auto& [unknown, bytes] : at_ends) {
      if (!unknown.line.empty() || !unknown.op.empty()) continue;
      for (const auto& [known, more] : at_ends) {
        if (known.phase != unknown.phase || (known.line.empty() && known.op.empty())) continue;
        for (size_t step = 0; step < bytes.size(); ++step) bytes[step] += more[step];
      }
    }
  }

  void AddReplaced() {
    auto at_ends = BytesAtStepEnds(analysis_, device_, steps_, until_, origins_, at_);
    std::erase_if(at_ends, [&](const auto& entry) {
      return told_.contains({entry.first.line, entry.first.module, entry.first.op});
    });
    AddKnownToUnknown(at_ends);
    for (const auto& [place, bytes] : at_ends) {
      const auto rise = RiseOf(bytes, found_.first_judged - 1, found_.last_judged - 1);
      if (rise.has_value()) AddRise(place, bytes, *rise);
    }
  }

  void AddRise(const Place& place, const std::vector<uint64_t>& bytes, const Rise& rise) {
    Survivors risen;
    for (const size_t step : rise.steps)
      risen.Add(static_cast<uint32_t>(step + 1), bytes[step] - bytes[step - 1]);
    found_.leaks.push_back(GrowthAt(place, risen));
    Growth& growth = found_.leaks.back();
    growth.every = Every(risen);
    growth.bytes = bytes.back();
    growth.blocks = 1;
    growth.bytes_per_step = rise.bytes_per_step;
  }

  // Mean bytes per step over the judged steps.
  [[nodiscard]] uint64_t Judged(const Survivors& survivors) const {
    uint64_t judged = 0;
    for (const auto& [step, bytes] : survivors.bytes_of_step)
      judged += step >= found_.first_judged && step <= found_.last_judged ? bytes : 0;
    return judged / JudgedCount();
  }

  const classify::Analysis& analysis_;
  const model::Run& run_;
  const model::Device& device_;
  const timeline::Training& training_;
  EventIndex until_;
  EventIndex later_;  // the last allocation if no step follows `until_`; otherwise `until_`
  Keepers keepers_;
  classify::Origins origins_;
  std::vector<const timeline::Step*> steps_;  // finished steps
  Places at_;
  std::map<Place, Survivors> places_;
  std::set<std::array<std::string_view, 3>> told_;           // line, module and op of survivors
  std::map<Place, size_t> merged_;                           // graph -> number of its places
  std::map<Place, std::array<uint64_t, 3>> places_at_ends_;  // bytes after each of the last three steps
  Found found_;
};

}  // namespace

Found FindGrowth(const classify::Analysis& analysis, const timeline::DeviceCurve& curve, EventIndex until) {
  return Finder(analysis, curve, until).Find();
}

EventIndex EndOfTraining(const classify::Analysis& analysis, model::ProcessIndex process) {
  const auto& steps = analysis.training()[process].steps();
  const auto last =
      std::find_if(steps.rbegin(), steps.rend(), [](const timeline::Step& step) { return step.complete; });
  const EventIndex events = analysis.run().event_count();
  return last != steps.rend() ? last->end - 1 : events == 0 ? 0 : events - 1;
}

}  // namespace vramscope::growth
