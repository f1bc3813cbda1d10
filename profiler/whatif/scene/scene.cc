// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/step/order.h"
#include "profiler/whatif/step/up_to.h"
#include "profiler/whatif/step/windows.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

constexpr Position kHalf = 0.5;

uint64_t Rounded(uint64_t bytes) { return UpTo(bytes, kBlockUnit); }

// Of a block at one moment of any step but the first: the one of this step, and the one that the step before
// left; of what piles up in the last step of a replay.
uint64_t LiveBytes(const Scene& scene, const Block& block, Position at) {
  if (block.Passes()) return 0;
  if (block.birth != Birth::kEachStep) return Rounded(block.bytes);
  if (block.piles_up) return (kReplayedSteps - (block.begin <= at ? 0 : 1)) * Rounded(block.bytes);
  const int copies = (block.begin <= at && at < block.end ? 1 : 0) + (at + scene.length < block.end ? 1 : 0);
  return static_cast<uint64_t>(copies) * Rounded(block.bytes);
}

// Where in the step the blocks belong that the first step made for good: behind as many of the step's own
// allocations as there were in the first step before them, apart from those made for good. Counted from the
// begin of the last backward pass or optimizer step on: a first forward may fill caches, with temporaries of
// its own. Where it makes none, what it keeps is counted back from the first backward pass: it seems to begin
// too late then, as forward is taken to make as much as in later steps.
class FirstStep {
 public:
  explicit FirstStep(const Step& step) : step_(step) {
    if (step.first.number == step.number) return;
    begin_ = step.first.begin;
    end_ = step.first.end;
    std::vector<model::BlockId> kept;
    for (const StepBlock& block : step.blocks) {
      // State of parameters that a lever took away was there too.
      if ((block.begin == kBefore && block.end >= kForever) || block.category == Category::kOptimizerState)
        kept.push_back(block.id);
    }
    std::sort(kept.begin(), kept.end());  // what levers put in has no number of its own
    for (const model::Change& change : step.run->devices[step.device].changes) {
      if (change.event >= end_) break;
      if (change.freed() || change.event < begin_) continue;
      if (!std::binary_search(kept.begin(), kept.end(), change.block())) ordinary_.push_back(change.event);
    }
    for (const StepBlock& block : step.blocks) {
      if (block.begin > 0 && block.id != model::kNone) own_.push_back(block.begin);
    }
    Step first;
    first.run = step.run, first.device = step.device;
    AddWindows(step.first, first);
    AddLandmarks(first.backward, step.backward);
    AddLandmarks(first.optimizer, step.optimizer);
    std::sort(landmarks_.begin(), landmarks_.end());
  }

  // Whether the block was made in the first step.
  [[nodiscard]] bool Made(model::EventIndex alloc) const { return begin_ <= alloc && alloc < end_; }

  [[nodiscard]] Position PlaceOf(model::EventIndex alloc) const {
    const auto behind = std::upper_bound(landmarks_.begin(), landmarks_.end(), std::pair(alloc, kForever));
    const size_t so_far = CountBefore(ordinary_, alloc);
    Position place = step_.length;
    if (behind != landmarks_.begin()) {
      const auto [from, own] = *std::prev(behind);
      const size_t since = so_far - CountBefore(ordinary_, from);
      place = since == 0 ? own : Ahead(CountBefore(own_, own) + since, step_.length);
    } else if (behind == landmarks_.end() || HasTemporariesOfItsOwn(*behind)) {
      place = Ahead(so_far, step_.length);
    } else {
      const auto [until, own] = *behind;
      const size_t rest = CountBefore(ordinary_, until) - so_far, all = CountBefore(own_, own);
      place = rest == 0 ? own - kHalf : Ahead(all - std::min(all, rest), own);
    }
    // In the order of their allocation.
    return place + kHair * static_cast<Position>(alloc - begin_) / (1 + static_cast<Position>(end_ - begin_));
  }

 private:
  template <typename At>
  static size_t CountBefore(const std::vector<At>& ascending, At at) {
    return static_cast<size_t>(std::lower_bound(ascending.begin(), ascending.end(), at) - ascending.begin());
  }
  // Whether the first forward makes more than is kept and what this step's makes, up to that landmark.
  [[nodiscard]] bool HasTemporariesOfItsOwn(const std::pair<model::EventIndex, Position>& end) const {
    const Position forward = step_.modules.empty() ? 0 : step_.modules.front().begin;
    return CountBefore(ordinary_, end.first) + CountBefore(own_, forward) > CountBefore(own_, end.second);
  }
  // Of that one of the step's own allocations; `end`: behind the last one.
  [[nodiscard]] Position Ahead(size_t allocation, Position end) const {
    return (allocation < own_.size() ? own_[allocation] : end) - kHalf;
  }
  void AddLandmarks(const std::vector<Window>& first, const std::vector<Window>& own) {
    if (first.size() != own.size()) return;
    for (size_t i = 0; i < own.size(); ++i)
      landmarks_.emplace_back(begin_ + static_cast<model::EventIndex>(first[i].begin), own[i].begin);
  }

  const Step& step_;
  model::EventIndex begin_ = 0;
  model::EventIndex end_ = 0;
  std::vector<std::pair<model::EventIndex, Position>> landmarks_;  // in the first step and in this one
  std::vector<model::EventIndex> ordinary_;  // allocations of the first step that are not for good
  std::vector<Position> own_;                // the step's own allocations
};

// What a step leaves behind, joined with what the step before it left.
class CarryOver {
 public:
  CarryOver(const Step& step, std::vector<uint32_t> carried_in) : step_(step), left_(std::move(carried_in)) {}

  // Those of one name, as gradients are; then blocks of equal size and kind in order of their allocation.
  // What is left lies in blocks of two sizes, as the allocator does not always split one. Kinds come before
  // sizes alone: where a lever took gradients away, those of the step before would be taken for a batch.
  void Join(Scene& scene) {
    std::vector<Block*> open;
    for (Block& block : scene.blocks) {
      if (block.birth != Birth::kEachStep || block.end < kForever) continue;
      if (block.piles_up)
        block.end = scene.length - kHair;
      else
        open.push_back(&block);
    }
    for (const auto alike :
         {&CarryOver::SameName, &CarryOver::SameSizeAndKind, &CarryOver::SameRequest, &CarryOver::SameSize}) {
      std::erase_if(open, [&](Block* block) { return JoinOne(scene, *block, alike); });
    }
    for (Block* const block : open)
      block->end = scene.length - kHair;  // nothing like it was there a step ago
  }

 private:
  using Alike = bool (CarryOver::*)(uint32_t, uint32_t) const;

  [[nodiscard]] uint64_t SizeOf(uint32_t block) const {
    const StepBlock& one = step_.blocks[block];
    return one.id == model::kNone ? one.requested : step_.run->blocks[one.id].size;
  }
  [[nodiscard]] bool SameCategory(uint32_t a, uint32_t b) const {
    return step_.blocks[a].category == step_.blocks[b].category;
  }
  [[nodiscard]] bool SameName(uint32_t a, uint32_t b) const {
    const std::string_view name = step_.blocks[a].name;
    return !name.empty() && name == step_.blocks[b].name && SameCategory(a, b);
  }
  [[nodiscard]] bool SameSize(uint32_t a, uint32_t b) const { return SizeOf(a) == SizeOf(b); }
  [[nodiscard]] bool SameSizeAndKind(uint32_t a, uint32_t b) const {
    return SameSize(a, b) && SameCategory(a, b);
  }
  // As recorded: what the step before left is used by no operator, so a lever knows less of it.
  [[nodiscard]] uint64_t RequestOf(uint32_t block) const {
    const StepBlock& one = step_.blocks[block];
    const model::Block* const seen = one.id == model::kNone ? nullptr : &step_.run->blocks[one.id];
    const bool known = seen != nullptr && seen->slack != model::Block::kUnknownSlack;
    return Rounded(known ? seen->size - seen->slack : one.requested);
  }
  [[nodiscard]] bool SameRequest(uint32_t a, uint32_t b) const {
    return RequestOf(a) == RequestOf(b) && SameCategory(a, b);
  }

  bool JoinOne(const Scene& scene, Block& block, Alike alike) {
    const auto found = std::find_if(left_.begin(), left_.end(), [&](uint32_t left) {
      return step_.blocks[left].stream == block.stream && (this->*alike)(left, block.origin);
    });
    if (found == left_.end()) return false;
    block.end = scene.length + step_.blocks[*found].end;
    left_.erase(found);
    return true;
  }

  const Step& step_;
  std::vector<uint32_t> left_;  // blocks of the step before, in order
};

// Where an optimizer steps that makes its state at about `at` of the first step.
Position WithOptimizer(const Scene& scene, Position at) {
  for (const Window& window : scene.optimizer) {
    if (at < window.end) return std::max(at, window.begin + kHair);
  }
  return at;
}

}  // namespace

Scene MakeScene(const Step& step) {
  Scene scene;
  scene.length = step.length;
  scene.settings = step.settings;
  scene.forward = ForwardParts(step);
  scene.backward = step.backward;
  scene.optimizer = step.optimizer;

  const FirstStep first(step);
  std::vector<uint32_t> carried_in;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& recorded = step.blocks[i];
    if (recorded.piled) continue;
    if (recorded.begin == kBefore && recorded.end < kForever) {
      carried_in.push_back(i);
      continue;
    }
    Block made{recorded.begin, recorded.end, recorded.requested, i};
    made.piles_up = recorded.piles_up;
    made.category = recorded.category;
    made.stream = recorded.stream;
    made.pieces = recorded.pieces;
    if (recorded.begin == kBefore) {
      // Else a lever put it in; state of a parameter that a lever put in is born like that of another one.
      const model::BlockId id = recorded.category == Category::kOptimizerState &&
                                        recorded.id == model::kNone && recorded.copy_of != model::kNone
                                    ? step.blocks[recorded.copy_of].id
                                    : recorded.id;
      const bool seen = id != model::kNone;
      const model::EventIndex alloc = seen ? step.run->blocks[id].alloc_event : 0;
      made.birth = seen && first.Made(alloc) ? Birth::kOnce : Birth::kSetup;
      made.begin = made.birth == Birth::kOnce ? first.PlaceOf(alloc) : kBefore;
      if (seen && alloc < step.first.begin) made.begin = Position(alloc) - Position(step.first.begin) - 1;
      if (recorded.set_up < kBefore) made.birth = Birth::kSetup, made.begin = recorded.set_up;
      if (recorded.once != kBefore) made.birth = Birth::kOnce, made.begin = recorded.once;
      if (made.category == Category::kOptimizerState && made.birth == Birth::kOnce)
        made.begin = WithOptimizer(scene, made.begin);
    }
    scene.blocks.push_back(made);
  }
  for (const Passing& one : step.passing) {
    Block made{one.begin, one.end, one.bytes};
    made.birth = Birth::kSetup;
    made.stream = one.stream;
    scene.blocks.push_back(made);
  }
  CarryOver(step, std::move(carried_in)).Join(scene);
  return scene;
}

void TakeApart(Scene& scene) {
  const size_t blocks = scene.blocks.size();
  for (size_t i = 0; i < blocks; ++i) {
    Block piece = scene.blocks[i];
    if (piece.pieces <= 1) continue;
    piece.bytes /= std::exchange(piece.pieces, 1);
    scene.blocks[i].bytes -= piece.bytes * (scene.blocks[i].pieces - 1);
    scene.blocks.insert(scene.blocks.end(), std::exchange(scene.blocks[i].pieces, 1) - 1, piece);
  }
}

uint64_t LiveAt(const Scene& scene, Position at) {
  uint64_t bytes = 0;
  for (const Block& block : scene.blocks) bytes += LiveBytes(scene, block, at);
  return bytes;
}

Peak PeakOf(const Scene& scene) {
  enum Kind : uint32_t { kEnds, kBegins };  // what ends at a moment makes room for what begins then
  std::vector<Moment> moments;
  moments.reserve(scene.blocks.size() * 2);
  int64_t now = 0;
  for (uint32_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& block = scene.blocks[i];
    if (block.Passes()) continue;
    if (block.birth != Birth::kEachStep) {
      now += static_cast<int64_t>(Rounded(block.bytes));
      continue;
    }
    if (block.piles_up) {
      now += static_cast<int64_t>((kReplayedSteps - 1) * Rounded(block.bytes));
      moments.push_back({block.begin, kBegins, i});
      continue;
    }
    if (block.end >= scene.length)
      now += static_cast<int64_t>(Rounded(block.bytes));  // the one of the step before
    moments.push_back({block.begin, kBegins, i});
    moments.push_back({block.end < scene.length ? block.end : std::fmod(block.end, scene.length), kEnds, i});
  }
  PutInOrder(moments);
  Peak peak;
  int64_t highest = now;
  for (const Moment& moment : moments) {
    const auto bytes = static_cast<int64_t>(Rounded(scene.blocks[moment.index].bytes));
    now += moment.kind == kBegins ? bytes : -bytes;
    if (now > highest) highest = now, peak.at = moment.at;
  }
  peak.bytes = static_cast<uint64_t>(highest);
  for (const Block& block : scene.blocks) {
    const uint64_t bytes = LiveBytes(scene, block, peak.at);
    peak.categories[static_cast<size_t>(block.category)] += bytes;
  }
  peak.phase = Within(scene.optimizer, peak.at)  ? "optimizer"
               : Within(scene.backward, peak.at) ? "backward"
               : Within(scene.forward, peak.at)  ? "forward"
                                                 : "other";
  return peak;
}

}  // namespace vramscope::whatif
