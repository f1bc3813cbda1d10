// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/first_step.h"

#include <algorithm>

#include "profiler/whatif/step/windows.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

template <typename At>
size_t CountBefore(const std::vector<At>& ascending, At at) {
  return static_cast<size_t>(std::lower_bound(ascending.begin(), ascending.end(), at) - ascending.begin());
}

template <typename Allocation>
size_t CountBefore(const std::vector<Allocation>& ascending, model::EventIndex at) {
  return static_cast<size_t>(std::ranges::lower_bound(ascending, at, {}, &Allocation::event) -
                             ascending.begin());
}

}  // namespace

FirstStep::FirstStep(const Step& step) : step_(step) {
  if (step.first.number == step.number) return;
  begin_ = step.first.begin;
  end_ = step.first.end;
  ReadAllocations();
  const timeline::Step as_recorded{.begin = step.first_event, .end = step.end_event};
  const Step first = WindowsOf(step.first), recorded = WindowsOf(as_recorded);
  AddLandmarks(first.backward, recorded.backward, step.backward);
  AddLandmarks(first.optimizer, recorded.optimizer, step.optimizer);
  std::ranges::sort(landmarks_);
  for (const Landmark& landmark : landmarks_) AddPart(landmark);
  AddPart({end_, step.end_event, step.length});
}

Step FirstStep::WindowsOf(const timeline::Step& recorded) const {
  Step windows;
  windows.run = step_.run, windows.device = step_.device;
  AddWindows(recorded, windows);
  return windows;
}

void FirstStep::ReadAllocations() {
  std::vector<model::BlockId> kept;
  std::vector<std::pair<model::BlockId, Position>> own;
  for (const StepBlock& block : step_.blocks) {
    // State of parameters that a lever removed existed too.
    if ((block.begin == kBefore && block.end >= kForever) || block.category == Category::kOptimizerState)
      kept.push_back(block.id);
    if (block.begin <= 0 || block.id == model::kNone) continue;
    own_.push_back(block.begin);
    own.emplace_back(block.id, block.begin);
  }
  std::ranges::sort(kept);  // blocks that levers inserted have no number of their own
  std::ranges::sort(own);
  const model::Run& run = *step_.run;
  for (const model::Change& change : run.devices[step_.device].changes) {
    if (change.event >= std::max(end_, step_.end_event)) break;
    if (change.freed()) continue;
    Allocation made{change.event, change.block(), run.blocks[change.block()].Requested()};
    if (change.event >= begin_ && change.event < end_ && !std::ranges::binary_search(kept, change.block()))
      ordinary_.push_back(made);
    if (change.event < step_.first_event || change.event >= step_.end_event) continue;
    const auto left =
        std::ranges::lower_bound(own, change.block(), {}, &std::pair<model::BlockId, Position>::first);
    if (left != own.end() && left->first == change.block()) made.own = left->second;
    recorded_.push_back(made);
  }
}

void FirstStep::AddLandmarks(const std::vector<Window>& first, const std::vector<Window>& recorded,
                             const std::vector<Window>& own) {
  if (first.size() != own.size() || recorded.size() != own.size()) return;
  for (size_t i = 0; i < own.size(); ++i)
    landmarks_.push_back({begin_ + static_cast<model::EventIndex>(first[i].begin.event),
                          step_.first_event + static_cast<model::EventIndex>(recorded[i].begin.event),
                          own[i].begin});
}

void FirstStep::AddPart(const Landmark& end) {
  const Part last = parts_.empty() ? Part{} : parts_.back();
  Part& part = parts_.emplace_back();
  part.first = {last.first.second, CountBefore(ordinary_, end.first)};
  part.own = {last.own.second, CountBefore(recorded_, end.recorded)};
  part.end = end.own;
  part.laid_side_by_side = LaySideBySide(part);
}

bool FirstStep::LaySideBySide(const Part& part) {
  // The first step may be taken to begin with forward, so that the batch existed before.
  const Position forward = step_.modules.empty() ? 0 : step_.modules.front().begin;
  const auto in_forward =
      std::ranges::find_if(recorded_, [&](const Allocation& one) { return one.own >= forward; });
  const auto batch = static_cast<size_t>(in_forward - recorded_.begin());
  size_t at = part.first.second;
  for (size_t i = part.own.second; i-- > part.own.first;) {
    do {
      if (at == part.first.first) return i < batch;
    } while (ordinary_[--at].asked != recorded_[i].asked);
    ordinary_[at].same = static_cast<uint32_t>(i);
  }
  return true;
}

size_t FirstStep::PartOf(model::EventIndex event) const {
  const auto behind = std::ranges::upper_bound(landmarks_, event, {}, &Landmark::first);
  return static_cast<size_t>(behind - landmarks_.begin());
}

Position FirstStep::PlaceOf(model::EventIndex event) const {
  const size_t part = PartOf(event);
  return parts_[part].laid_side_by_side ? BesideOwn(event, part) : ByCount(event, part);
}

// The position before the next allocation that both steps make, in the order of the first step's events.
Position FirstStep::BesideOwn(model::EventIndex event, size_t of_part) const {
  const Part& part = parts_[of_part];
  const auto is_of_both = [&](const Allocation& one) {
    return one.same != model::kNone && recorded_[one.same].own != kBefore;
  };
  const auto begin = ordinary_.begin() + static_cast<std::ptrdiff_t>(part.first.first),
             end = ordinary_.begin() + static_cast<std::ptrdiff_t>(part.first.second),
             at = ordinary_.begin() + static_cast<std::ptrdiff_t>(CountBefore(ordinary_, event));
  const auto next = std::find_if(at, end, is_of_both);
  const bool first_of_all = at == begin && of_part != 0;
  Position place = In(Stage::kAhead, part.end);
  if (first_of_all)
    place = landmarks_[of_part - 1].own;
  else if (next != end)
    place = In(Stage::kAhead, recorded_[next->same].own);
  return Later(place, event - begin_);
}

Position FirstStep::ByCount(model::EventIndex event, size_t of_part) const {
  const size_t so_far = CountBefore(ordinary_, event);
  Position place = 0;
  if (of_part != 0) {
    const Landmark& from = landmarks_[of_part - 1];
    const size_t since = so_far - CountBefore(ordinary_, from.first);
    place = since == 0 ? from.own : Ahead(CountBefore(own_, from.own) + since, step_.length);
  } else if (landmarks_.empty() || HasTemporariesOfItsOwn(landmarks_.front())) {
    place = Ahead(so_far, step_.length);
  } else {
    const Landmark& until = landmarks_.front();
    const size_t rest = CountBefore(ordinary_, until.first) - so_far, all = CountBefore(own_, until.own);
    place = rest == 0 ? In(Stage::kAhead, until.own) : Ahead(all - std::min(all, rest), until.own);
  }
  // Sorted like the events.
  return Later(place, event - begin_);
}

std::vector<Passing> FirstStep::Temporaries() const {
  std::vector<Passing> found;
  for (const Allocation& made : ordinary_) {
    const model::Block& block = step_.run->blocks[made.block];
    const bool gone = block.free_event < end_;  // otherwise it may be state that a lever removed
    if (!gone || made.same != model::kNone || !parts_[PartOf(made.event)].laid_side_by_side) continue;
    found.push_back({PlaceOf(made.event), PlaceOf(block.free_event), made.asked, block.stream});
  }
  return found;
}

bool FirstStep::HasTemporariesOfItsOwn(const Landmark& end) const {
  const Position forward = step_.modules.empty() ? 0 : step_.modules.front().begin;
  return CountBefore(ordinary_, end.first) + CountBefore(own_, forward) > CountBefore(own_, end.own);
}

Position FirstStep::Ahead(size_t allocation, Position end) const {
  return In(Stage::kAhead, allocation < own_.size() ? own_[allocation] : end);
}

}  // namespace vramscope::whatif
