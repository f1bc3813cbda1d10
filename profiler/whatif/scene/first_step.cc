// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/first_step.h"

#include <algorithm>

#include "profiler/whatif/step/windows.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

constexpr Position kHalf = 0.5;

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
  Step first;
  first.run = step.run, first.device = step.device;
  AddWindows(step.first, first);
  AddLandmarks(first.backward, step.backward);
  AddLandmarks(first.optimizer, step.optimizer);
  std::ranges::sort(landmarks_);
  for (const Landmark& landmark : landmarks_) AddPart(landmark.first, landmark.own);
  AddPart(end_, step.length);
}

void FirstStep::ReadAllocations() {
  std::vector<model::BlockId> kept;
  for (const StepBlock& block : step_.blocks) {
    // State of parameters that a lever took away was there too.
    if ((block.begin == kBefore && block.end >= kForever) || block.category == Category::kOptimizerState)
      kept.push_back(block.id);
    if (block.begin > 0 && block.id != model::kNone) own_.push_back(block.begin);
  }
  std::ranges::sort(kept);  // what levers put in has no number of its own
  const model::Run& run = *step_.run;
  const model::EventIndex own_end = step_.first_event + static_cast<model::EventIndex>(step_.length);
  for (const model::Change& change : run.devices[step_.device].changes) {
    if (change.event >= std::max(end_, own_end)) break;
    if (change.freed()) continue;
    const Allocation made{change.event, run.blocks[change.block()].Requested()};
    if (change.event >= begin_ && change.event < end_ && !std::ranges::binary_search(kept, change.block()))
      ordinary_.push_back(made);
    if (change.event >= step_.first_event && change.event < own_end) recorded_.push_back(made);
  }
}

void FirstStep::AddLandmarks(const std::vector<Window>& first, const std::vector<Window>& own) {
  if (first.size() != own.size()) return;
  for (size_t i = 0; i < own.size(); ++i)
    landmarks_.push_back({begin_ + static_cast<model::EventIndex>(first[i].begin), own[i].begin});
}

void FirstStep::AddPart(model::EventIndex first_end, Position own_end) {
  const Part last = parts_.empty() ? Part{} : parts_.back();
  const model::EventIndex own_event = step_.first_event + static_cast<model::EventIndex>(own_end);
  Part& part = parts_.emplace_back();
  part.first = {last.first.second, CountBefore(ordinary_, first_end)};
  part.own = {last.own.second, CountBefore(recorded_, own_event)};
  part.end = own_end;
  part.laid_side_by_side = LaySideBySide(part);
}

bool FirstStep::LaySideBySide(const Part& part) {
  // The first step may be taken to begin with forward, so that the batch was there.
  const Position forward = step_.modules.empty() ? 0 : step_.modules.front().begin;
  const size_t batch = CountBefore(recorded_, step_.first_event + static_cast<model::EventIndex>(forward));
  size_t at = part.first.second;
  for (size_t i = part.own.second; i-- > part.own.first;) {
    do {
      if (at == part.first.first) return i < batch;
    } while (ordinary_[--at].asked != recorded_[i].asked);
    ordinary_[at].same = static_cast<uint32_t>(i);
  }
  return true;
}

Position FirstStep::PlaceOf(model::EventIndex alloc) const {
  const size_t behind = static_cast<size_t>(
      std::ranges::upper_bound(landmarks_, alloc, {}, &Landmark::first) - landmarks_.begin());
  const Part& part = parts_[behind];
  Position place = part.end - kHalf;
  size_t next = CountBefore(ordinary_, alloc);
  if (behind != 0 && next == part.first.first) {
    place = landmarks_[behind - 1].own;
  } else if (part.laid_side_by_side) {
    while (next < part.first.second && ordinary_[next].same == model::kNone) ++next;
    if (next < part.first.second)
      place = Position(recorded_[ordinary_[next].same].event) - step_.first_event - kHalf;
  } else {
    place = ByCount(alloc, behind);
  }
  // In the order of their allocation.
  return place + kHair * static_cast<Position>(alloc - begin_) / (1 + static_cast<Position>(end_ - begin_));
}

Position FirstStep::ByCount(model::EventIndex alloc, size_t landmarks) const {
  const size_t so_far = CountBefore(ordinary_, alloc);
  if (landmarks != 0) {
    const Landmark& from = landmarks_[landmarks - 1];
    return Ahead(CountBefore(own_, from.own) + so_far - CountBefore(ordinary_, from.first), step_.length);
  }
  if (landmarks_.empty() || HasTemporariesOfItsOwn(landmarks_.front())) return Ahead(so_far, step_.length);
  const Landmark& until = landmarks_.front();
  const size_t rest = CountBefore(ordinary_, until.first) - so_far, all = CountBefore(own_, until.own);
  return rest == 0 ? until.own - kHalf : Ahead(all - std::min(all, rest), until.own);
}

bool FirstStep::HasTemporariesOfItsOwn(const Landmark& end) const {
  const Position forward = step_.modules.empty() ? 0 : step_.modules.front().begin;
  return CountBefore(ordinary_, end.first) + CountBefore(own_, forward) > CountBefore(own_, end.own);
}

Position FirstStep::Ahead(size_t allocation, Position end) const {
  return (allocation < own_.size() ? own_[allocation] : end) - kHalf;
}

}  // namespace vramscope::whatif
