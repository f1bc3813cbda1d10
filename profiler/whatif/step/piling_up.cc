// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/piling_up.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::BlockId;
using model::EventIndex;
using model::kNone;

// True only for results of forward: blocks that an optimizer or a parameter holds stay on purpose.
bool MayPileUp(const StepBlock& block) {
  return block.category == Category::kTemporaryForward || block.category == Category::kActivation ||
         block.category == Category::kUnattributed;
}

// Identifies each allocation within a step by its size and the number of earlier allocations of that size.
class Ranks {
 public:
  using Key = std::pair<uint64_t, size_t>;

  Ranks(const Step& step, EventIndex begin, EventIndex end) {
    std::map<uint64_t, size_t> counts;
    const auto& changes = step.run->devices[step.device].changes;
    auto change = std::partition_point(changes.begin(), changes.end(),
                                       [&](const model::Change& one) { return one.event < begin; });
    for (; change != changes.end() && change->event < end; ++change) {
      if (change->freed()) continue;
      const uint64_t size = step.run->blocks[change->block()].size;
      const Key key{size, counts[size]++};
      key_of_[change->block()] = key;
      block_at_[key] = change->block();
    }
  }
  [[nodiscard]] const Key* Of(BlockId block) const {
    const auto found = key_of_.find(block);
    return found == key_of_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] BlockId At(const Key& key) const {
    const auto found = block_at_.find(key);
    return found == block_at_.end() ? kNone : found->second;
  }

 private:
  std::map<BlockId, Key> key_of_;
  std::map<Key, BlockId> block_at_;
};

// Blocks that an earlier step of the loop left, and that the recorded step neither uses nor frees.
std::vector<BlockIndex> LeftBehind(const Step& step) {
  std::set<BlockIndex> used;
  for (const Operand& operand : step.operands) used.insert(operand.block);
  std::vector<BlockIndex> left;
  for (const BlockIndex i : step.blocks.Indices()) {
    const StepBlock& block = step.blocks[i];
    if (block.begin == kBefore && block.end >= kForever && !block.workspace && MayPileUp(block) &&
        step.run->blocks[block.id].alloc_event >= step.first.begin && !used.contains(i))
      left.push_back(i);
  }
  return left;
}

}  // namespace

void FindPilingUp(const timeline::Step& before, Step& step) {
  if (before.number <= step.first.number || before.number >= step.number) return;
  const std::vector<BlockIndex> left = LeftBehind(step);
  if (left.empty()) return;
  const auto made = [&](BlockIndex block) { return step.run->blocks[step.blocks[block].id].alloc_event; };
  const Ranks then(step, before.begin, before.end);
  const Ranks now(step, step.first_event, step.first_event + static_cast<EventIndex>(step.length));
  std::map<BlockId, BlockIndex> own;
  for (const BlockIndex i : step.blocks.Indices())
    if (step.blocks[i].begin != kBefore) own[step.blocks[i].id] = i;
  std::map<std::pair<uint64_t, Category>, uint32_t> each_step;  // how many of a kind one step leaves
  for (const BlockIndex block : left) {
    const Ranks::Key* const key = made(block) < before.begin ? nullptr : then.Of(step.blocks[block].id);
    const auto same = key == nullptr ? own.end() : own.find(now.At(*key));
    if (same == own.end() || step.blocks[same->second].category != step.blocks[block].category) continue;
    if (step.blocks[same->second].end < kForever) continue;  // this one is freed
    step.blocks[same->second].piles_up = step.blocks[block].piled = true;
    ++each_step[{key->first, step.blocks[block].category}];
  }
  // Counts the same number for each earlier step, but for no more steps than a replay repeats.
  for (auto& [kind, count] : each_step)
    count *= std::min<uint32_t>(before.number - step.first.number, kReplayedSteps - 2);
  for (auto block = left.rbegin(); block != left.rend(); ++block) {
    StepBlock& one = step.blocks[*block];
    const auto kind = each_step.find({step.run->blocks[one.id].size, one.category});
    if (one.piled || made(*block) >= before.begin || kind == each_step.end() || kind->second == 0) continue;
    one.piled = true;
    --kind->second;
  }
}

}  // namespace vramscope::whatif
