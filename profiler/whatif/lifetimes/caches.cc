// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/caches.h"

#include <algorithm>
#include <utility>

#include "profiler/whatif/attention/flash_results.h"
#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// torch.tensor([]): of no memory.
bool IsNothing(const Step& step, const Operand& operand) {
  return operand.block == kNone && step.shapes[operand.shape].known && step.Rank(operand.shape) == 1 &&
         step.Dims(operand.shape)[0] == 0;
}

}  // namespace

std::pair<uint32_t, uint32_t> AppendedToNothing(const Step& step, const Op& op) {
  const std::span<const Operand> given = InputsOf(step, op);
  const std::span<const Operand> made = OutputsOf(step, op);
  if (op.node != kNone || step.NameOf(op) != "aten::cat" || given.size() != 2 || made.empty() ||
      !IsNothing(step, given[0]) || given[1].block == kNone || made[0].block == kNone ||
      step.blocks[made[0].block].begin < op.begin)
    return {kNone, kNone};
  return {given[1].block, made[0].block};
}

void HoldCaches(const Step& step, std::vector<Position>& held) {
  for (const Op& op : step.ops) {
    const uint32_t appended = AppendedToNothing(step, op).second;
    if (appended == kNone) continue;
    for (const ModuleCall& call : step.modules) {
      if (call.parent == kNone && call.begin <= op.begin && op.begin < call.end && call.end < kForever)
        held[appended] = std::max(held[appended], call.end);
    }
  }
}

std::optional<Step> WithoutCaches(const Step& step, const std::vector<uint32_t>& calls, Scene& scene) {
  std::vector<uint32_t> stands_for(step.blocks.size(), kNone);  // by block that was made: what it was made of
  bool any = false;
  for (const Op& op : step.ops) {
    const auto [given, made] = AppendedToNothing(step, op);
    if (made == kNone) continue;
    const Position at = op.begin;
    if (std::none_of(calls.begin(), calls.end(), [&](uint32_t call) {
          return step.modules[call].begin <= at && at < step.modules[call].end;
        }))
      continue;
    stands_for[made] = given;
    any = true;
  }
  if (!any) return std::nullopt;
  Step changed = step;
  const auto rename = [&](uint32_t& block) {
    if (block != kNone && stands_for[block] != kNone) block = stands_for[block];
  };
  for (Operand& operand : changed.operands) rename(operand.block);
  for (Held& held : changed.held) rename(held.block);
  for (KeptResult& kept : changed.kept_results) rename(kept.block);
  for (Named& named : changed.named) rename(named.block);
  MergeNamed(changed.named);
  for (Saved& saved : changed.saved) {
    const uint32_t made = saved.block;
    rename(saved.block);
    if (saved.block != made)
      saved.share *= std::min(1.0, static_cast<double>(step.blocks[made].requested) /
                                       static_cast<double>(step.blocks[saved.block].requested));
  }
  for (uint32_t made = 0; made < stands_for.size(); ++made) {
    if (stands_for[made] == kNone) continue;
    StepBlock& itself = changed.blocks[stands_for[made]];
    StepBlock& gone = changed.blocks[made];
    itself.end = std::max(itself.end, gone.end);
    itself.category = gone.category;
    gone.requested = 0;
    gone.end = gone.begin;
  }
  // Keys do not lie head by head then, and their gradients do not either.
  std::vector<bool> appended(step.blocks.size());
  for (uint32_t made = 0; made < stands_for.size(); ++made) appended[made] = stands_for[made] != kNone;
  TakeBackGradientCopies(step, AttentionGradientsOf(step, appended), changed);
  for (Block& block : scene.blocks) {
    if (block.origin == kNone || block.origin >= stands_for.size()) continue;
    const StepBlock& now = changed.blocks[block.origin];
    if (now.requested == 0 && step.blocks[block.origin].requested != 0) block.bytes = 0;
    if (now.end <= step.blocks[block.origin].end || block.begin != now.begin) continue;
    block.end = std::max(block.end, now.end);
    block.category = now.category;
  }
  return changed;
}

}  // namespace vramscope::whatif
