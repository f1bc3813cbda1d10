// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/scene.h"

#include <algorithm>
#include <utility>

#include "profiler/whatif/scene/first_step.h"
#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/step/order.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

uint64_t Rounded(uint64_t bytes) { return UpTo(bytes, kBlockUnit); }

// Live bytes of a block at one moment of any step but the first: this step's copy of it, and the previous
// step's copy. For blocks that pile up: in the last step of a replay.
uint64_t LiveBytes(const Scene& scene, const Block& block, Position at) {
  if (block.Passes()) return 0;
  if (block.birth != Birth::kEachStep) return Rounded(block.bytes);
  if (block.piles_up) return (kReplayedSteps - (block.begin <= at ? 0 : 1)) * Rounded(block.bytes);
  const int copies = (block.begin <= at && at < block.end ? 1 : 0) + (at + scene.length < block.end ? 1 : 0);
  return static_cast<uint64_t>(copies) * Rounded(block.bytes);
}

// Joins the blocks that a step leaves with those that the previous step left.
class CarryOver {
 public:
  CarryOver(const Step& step, std::vector<BlockIndex> carried_in)
      : step_(step), left_(std::move(carried_in)) {}

  // First joins blocks with the same name, as gradients have; then blocks of equal size and kind in order of
  // their allocation. The remaining ones may have two sizes, because the allocator does not always split a
  // block. Kinds are compared before sizes alone: if a lever removed gradients, those of the previous step
  // would otherwise be taken for a batch.
  void Join(Scene& scene) {
    std::vector<Block*> open;
    for (Block& block : scene.blocks) {
      if (block.birth != Birth::kEachStep || block.end < kForever) continue;
      if (block.piles_up)
        block.end = Before(scene.length);
      else
        open.push_back(&block);
    }
    for (const auto alike :
         {&CarryOver::SameName, &CarryOver::SameSizeAndKind, &CarryOver::SameRequest, &CarryOver::SameSize}) {
      std::erase_if(open, [&](Block* block) { return JoinOne(scene, *block, alike); });
    }
    for (Block* const block : open)
      block->end = Before(scene.length);  // no equal block existed one step before
  }

 private:
  using Alike = bool (CarryOver::*)(BlockIndex, BlockIndex) const;

  [[nodiscard]] uint64_t SizeOf(BlockIndex block) const {
    const StepBlock& one = step_.blocks[block];
    return one.id == model::kNone ? one.requested : step_.run->blocks[one.id].size;
  }
  [[nodiscard]] bool SameCategory(BlockIndex a, BlockIndex b) const {
    return step_.blocks[a].category == step_.blocks[b].category;
  }
  [[nodiscard]] bool SameName(BlockIndex a, BlockIndex b) const {
    const std::string_view name = step_.blocks[a].name;
    return !name.empty() && name == step_.blocks[b].name && SameCategory(a, b);
  }
  [[nodiscard]] bool SameSize(BlockIndex a, BlockIndex b) const { return SizeOf(a) == SizeOf(b); }
  [[nodiscard]] bool SameSizeAndKind(BlockIndex a, BlockIndex b) const {
    return SameSize(a, b) && SameCategory(a, b);
  }
  // The recorded request. No operator uses a block that the previous step left, so a lever that changes this
  // step's block leaves that one unchanged.
  [[nodiscard]] uint64_t RequestOf(BlockIndex block) const {
    const StepBlock& one = step_.blocks[block];
    const model::Block* const seen = one.id == model::kNone ? nullptr : &step_.run->blocks[one.id];
    const bool known = seen != nullptr && seen->slack != model::Block::kUnknownSlack;
    return Rounded(known ? seen->size - seen->slack : one.requested);
  }
  [[nodiscard]] bool SameRequest(BlockIndex a, BlockIndex b) const {
    return RequestOf(a) == RequestOf(b) && SameCategory(a, b);
  }

  bool JoinOne(const Scene& scene, Block& block, Alike alike) {
    const auto found = std::find_if(left_.begin(), left_.end(), [&](BlockIndex left) {
      return step_.blocks[left].stream == block.stream && (this->*alike)(left, block.origin);
    });
    if (found == left_.end()) return false;
    block.end = step_.blocks[*found].end + scene.length;
    left_.erase(found);
    return true;
  }

  const Step& step_;
  std::vector<BlockIndex> left_;  // of the previous step, in order
};

// The optimizer step of the scene that creates its state at about `at` in the first step.
Position WithOptimizer(const Scene& scene, Position at) {
  for (const Window& window : scene.optimizer) {
    if (at < window.end) return std::max(at, After(window.begin));
  }
  return at;
}

}  // namespace

Scene MakeScene(const Step& step) {
  Scene scene;
  scene.length = step.length;
  scene.settings = step.settings;
  scene.empty_cache = step.cache_emptied;
  scene.forward = ForwardParts(step);
  scene.backward = step.backward;
  scene.optimizer = step.optimizer;

  const FirstStep first(step);
  std::vector<BlockIndex> carried_in;
  for (const BlockIndex i : step.blocks.Indices()) {
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
    if (recorded.begin == kBefore) {
      // Otherwise a lever inserted it. Inserted state of a parameter is created like that of another one.
      const model::BlockId id = recorded.category == Category::kOptimizerState &&
                                        recorded.id == model::kNone && recorded.copy_of != model::kNone
                                    ? step.blocks[recorded.copy_of].id
                                    : recorded.id;
      const bool seen = id != model::kNone;
      const model::EventIndex alloc = seen ? step.run->blocks[id].alloc_event : 0;
      made.birth = seen && first.Made(alloc) ? Birth::kOnce : Birth::kSetup;
      made.begin = made.birth == Birth::kOnce ? first.PlaceOf(alloc) : kBefore;
      if (seen && alloc < step.first.begin) made.begin = BeforeLoop(alloc, step.first);
      if (recorded.set_up < kBefore) made.birth = Birth::kSetup, made.begin = recorded.set_up;
      if (recorded.once != kBefore) made.birth = Birth::kOnce, made.begin = recorded.once;
      if (made.category == Category::kOptimizerState && made.birth == Birth::kOnce)
        made.begin = WithOptimizer(scene, made.begin);
    }
    scene.blocks.push_back(made);
  }
  const auto add_passing = [&](const Passing& one, Birth birth) {
    Block made{one.begin, one.end, one.bytes};
    made.birth = birth;
    made.stream = one.stream;
    scene.blocks.push_back(made);
  };
  for (const Passing& one : step.passing) add_passing(one, Birth::kSetup);
  for (const Passing& one : first.Temporaries()) add_passing(one, Birth::kOnce);
  CarryOver(step, std::move(carried_in)).Join(scene);
  return scene;
}

uint64_t LiveAt(const Scene& scene, Position at) {
  uint64_t bytes = 0;
  for (const Block& block : scene.blocks) bytes += LiveBytes(scene, block, at);
  return bytes;
}

Peak PeakOf(const Scene& scene) {
  enum Kind : uint32_t { kEnds, kBegins };  // frees come before allocations
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
      now += static_cast<int64_t>(Rounded(block.bytes));  // the previous step's copy
    moments.push_back({block.begin, kBegins, i});
    const bool in_it = block.end < scene.length;
    moments.push_back({in_it ? block.end : InItsStep(block.end, scene.length), kEnds, i});
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
