// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/circumstances.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace vramscope::fragmentation {
namespace {

using classify::Category;
using model::BlockId;
using model::EventIndex;

// Categories that always outlive a step.
bool IsLasting(Category category) {
  return category == Category::kParameter || category == Category::kBuffer ||
         category == Category::kGradient || category == Category::kOptimizerState ||
         category == Category::kWorkspace || category == Category::kCommunication;
}

class Inquiry {
 public:
  Inquiry(const classify::Analysis& analysis, model::DeviceIndex device, EventIndex failure)
      : analysis_(analysis),
        run_(analysis.run()),
        device_(run_.devices[device]),
        curve_(run_, device),
        training_(analysis.training()[device_.process]),
        failure_(failure) {
    for (BlockId id = 0; id < run_.blocks.size() && run_.blocks[id].alloc_event <= failure; ++id) {
      const model::Block& block = run_.blocks[id];
      if (block.AliveAfter(failure) && block.device_code == device_.code &&
          run_.ProcessOf(block) == device_.process)
        live_.push_back(id);
    }
  }

  Circumstances Answer(uint64_t requested) && {
    AddGrowth(requested);
    AddFailures();
    if (training_.SpanAt(failure_).part == timeline::Part::kOptimizer) AddUpcomingState(requested);
    return std::move(answer_);
  }

 private:
  [[nodiscard]] Category CategoryOf(BlockId id) const {
    return analysis_.categories().At(id, failure_).category;
  }

  void AddGrowth(uint64_t requested) {
    answer_.growth = growth::FindGrowth(analysis_, curve_, failure_).leaks;
    std::erase_if(answer_.growth, [](const growth::Growth& place) { return place.pinned_host; });
    for (const growth::Growth& place : answer_.growth) {
      answer_.grown += place.bytes;
      answer_.grows_per_step += place.bytes_per_step;
    }
    if (answer_.growth.empty()) return;
    const auto beside = [&](uint64_t allocated, uint32_t step) {
      uint64_t grown = 0;
      for (const growth::Growth& place : answer_.growth) {
        for (const growth::StepBytes& kept : place.kept) grown += kept.step < step ? kept.bytes : 0;
      }
      answer_.needed_beside = std::max(answer_.needed_beside, allocated - std::min(allocated, grown));
    };
    for (const timeline::Step& step : training_.steps()) {
      if (step.end <= failure_) beside(curve_.PeakWithin(step.begin, step.end).bytes, step.number);
    }
    beside(curve_.AllocatedAfter(failure_) + requested, ~uint32_t{0});
  }

  // Counts the blocks that were allocated between the begin of a failed attempt and its failure and are still
  // alive.
  void AddFailures() {
    std::optional<EventIndex> before;  // the previous failure
    for (const model::OutOfMemory& oom : run_.out_of_memory) {
      const bool here =
          oom.device_code == device_.code && run_.threads[oom.thread].process == device_.process;
      if (!here || oom.event >= failure_) continue;
      if (const std::optional<EventIndex> begin = BeginOfAttempt(oom.event, before)) {
        const uint64_t left = LeftOf(*begin, oom.event);
        answer_.left_by_failures += left;
        answer_.failures += left != 0 ? 1 : 0;
      }
      before = oom.event;
    }
  }

  [[nodiscard]] std::optional<EventIndex> BeginOfAttempt(EventIndex failure,
                                                         std::optional<EventIndex> failure_before) const {
    std::optional<EventIndex> begin = failure_before;
    for (const timeline::Step& step : training_.steps()) {
      if (step.begin <= failure) begin = std::max(begin.value_or(0), step.begin);
      if (step.end <= failure) begin = std::max(begin.value_or(0), step.end);
    }
    return begin;
  }

  [[nodiscard]] uint64_t LeftOf(EventIndex begin, EventIndex failure) const {
    uint64_t bytes = 0;
    for (const BlockId id : live_) {
      const model::Block& block = run_.blocks[id];
      if (block.alloc_event >= begin && block.alloc_event < failure && !IsLasting(CategoryOf(id)))
        bytes += block.size;
    }
    return bytes;
  }

  // When an optimizer creates its state, it creates the same tensors for each parameter. So the missing ones
  // are known.
  //
  //   0.weight  exp_avg 16 MiB, exp_avg_sq 16 MiB
  //   1.weight  exp_avg 16 MiB, failed: exp_avg_sq        to come: exp_avg and exp_avg_sq of 2.weight
  //   2.weight
  void AddUpcomingState(uint64_t requested) {
    std::map<std::string_view, std::map<std::string_view, uint64_t>> state;  // parameter -> kind -> bytes
    std::vector<std::pair<std::string_view, uint64_t>> parameters;
    std::vector<std::string_view> kinds;  // in order of creation
    std::set<std::string_view> with_gradient;
    for (const BlockId id : live_) {
      const std::string_view name = analysis_.names().Of(id);
      if (name.empty()) continue;
      const uint64_t bytes = run_.blocks[id].Requested();
      const Category category = CategoryOf(id);
      if (category == Category::kParameter) parameters.emplace_back(name, bytes);
      if (category == Category::kGradient) with_gradient.insert(name);
      const size_t of = name.find(" of ");
      if (category != Category::kOptimizerState || of == std::string_view::npos) continue;
      const std::string_view kind = name.substr(0, of);
      state[classify::ParameterOfName(name)][kind] = bytes;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
    std::erase_if(kinds, [&](std::string_view kind) { return !IsAsLarge(kind, parameters, state); });
    std::vector<uint64_t> missing;
    std::set<std::string_view> owners;
    for (const auto& [name, bytes] : parameters) {
      if (!with_gradient.contains(name)) continue;
      for (const std::string_view kind : kinds) {
        if (state[name].contains(kind)) continue;
        missing.push_back(bytes);
        owners.insert(name);
      }
    }
    if (missing.empty() || missing.front() > requested) return;  // the failed request was not state
    answer_.upcoming.assign(missing.begin() + 1, missing.end());
    for (const std::string_view kind : kinds)
      answer_.upcoming_of += (answer_.upcoming_of.empty() ? "" : ", ") + std::string(kind);
    answer_.upcoming_of +=
        " of " + std::to_string(owners.size()) + (owners.size() == 1 ? " parameter" : " parameters");
  }

  // True if the existing state tensors of this kind have the size of their parameters.
  using Parameters = std::vector<std::pair<std::string_view, uint64_t>>;
  using State = std::map<std::string_view, std::map<std::string_view, uint64_t>>;
  static bool IsAsLarge(std::string_view kind, const Parameters& parameters, const State& state) {
    return std::all_of(parameters.begin(), parameters.end(), [&](const auto& parameter) {
      const auto made = state.find(parameter.first);
      if (made == state.end()) return true;
      const auto of_kind = made->second.find(kind);
      return of_kind == made->second.end() || of_kind->second == parameter.second;
    });
  }

  const classify::Analysis& analysis_;
  const model::Run& run_;
  const model::Device& device_;
  timeline::DeviceCurve curve_;
  const timeline::Training& training_;
  EventIndex failure_;
  std::vector<BlockId> live_;
  Circumstances answer_;
};

}  // namespace

Circumstances CircumstancesOf(const classify::Analysis& analysis, model::DeviceIndex device,
                              EventIndex failure, uint64_t requested) {
  return Inquiry(analysis, device, failure).Answer(requested);
}

}  // namespace vramscope::fragmentation
