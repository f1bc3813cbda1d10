// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/caches.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// torch.tensor([]): of no memory.
bool IsNothing(const Step& step, const Operand& operand) {
  return operand.block == kNone && step.shapes[operand.shape].known && step.Rank(operand.shape) == 1 &&
         step.Dims(operand.shape)[0] == 0;
}

// cat() makes what it is given anew, head by head.
struct Appended {
  Operand given, made;
};

// A tensor with the dimensions of what was made, in any order: that of what it is made of.
void LieAsGiven(const Appended& appended, Step& step, Operand& operand) {
  const std::span<const int64_t> sizes = SizesOf(step, appended.made), made = StridesOf(step, appended.made),
                                 given = StridesOf(step, appended.given);
  if (made.size() != sizes.size() || given.size() != sizes.size() ||
      step.Rank(operand.shape) != sizes.size() || step.Rank(operand.strides) != sizes.size())
    return;
  std::vector<int64_t> now;
  for (size_t d = 0; d < sizes.size(); ++d) {
    size_t from = 0;
    while (from < sizes.size() &&
           (sizes[from] != SizesOf(step, operand)[d] || made[from] != StridesOf(step, operand)[d]))
      ++from;
    if (from == sizes.size()) return;
    now.push_back(given[from]);
  }
  operand.strides = static_cast<uint32_t>(step.shapes.size());
  step.shapes.push_back({static_cast<uint32_t>(step.dims.size()), static_cast<uint32_t>(now.size()), true});
  step.dims.insert(step.dims.end(), now.begin(), now.end());
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

namespace {

// Which operators append to nothing: a step is asked with one choice of modules after the other.
const std::vector<uint32_t>& AppendersIn(const Step& step) {
  return step.appended.Get([&] {
    std::vector<uint32_t> ops;
    for (uint32_t i = 0; i < step.ops.size(); ++i)
      if (AppendedToNothing(step, step.ops[i]).second != kNone) ops.push_back(i);
    return ops;
  });
}

}  // namespace

std::optional<Step> WithoutCaches(const Step& step, const std::vector<uint32_t>& calls) {
  std::vector<uint32_t> stands_for(step.blocks.size(), kNone);  // by block that was made: what it was made of
  std::map<uint32_t, Appended> appended;                        // likewise
  bool any = false;
  for (const uint32_t index : AppendersIn(step)) {
    const Op& op = step.ops[index];
    const auto [given, made] = AppendedToNothing(step, op);
    const Position at = op.begin;
    if (std::none_of(calls.begin(), calls.end(), [&](uint32_t call) {
          return step.modules[call].begin <= at && at < step.modules[call].end;
        }))
      continue;
    stands_for[made] = given;
    appended[made] = {InputsOf(step, op)[1], OutputsOf(step, op)[0]};
    any = true;
  }
  if (!any) return std::nullopt;
  Step changed = step;
  const auto rename = [&](uint32_t& block) {
    if (block != kNone && stands_for[block] != kNone) block = stands_for[block];
  };
  for (Operand& operand : changed.operands) {
    const auto found = appended.find(operand.block);
    if (found != appended.end()) LieAsGiven(found->second, changed, operand);
    rename(operand.block);
  }
  for (Held& held : changed.held) rename(held.block);
  for (KeptResult& kept : changed.kept_results) rename(kept.block);
  for (Named& named : changed.named) rename(named.block);
  MergeNamed(changed.named);
  std::vector<bool> kept(step.blocks.size(), false);  // by block that was made: autograd has it
  for (Saved& saved : changed.saved) {
    const uint32_t made = saved.block;
    rename(saved.block);
    if (saved.block == made) continue;
    kept[made] = true;
    saved.share *= std::min(1.0, static_cast<double>(step.blocks[made].requested) /
                                     static_cast<double>(step.blocks[saved.block].requested));
  }
  // What autograd does not keep only the cache had longer than those who use it.
  const std::vector<Position> used = LastUsesOf(changed).held;
  changed.last_uses = {};
  for (uint32_t made = 0; made < stands_for.size(); ++made) {
    if (stands_for[made] == kNone) continue;
    StepBlock& itself = changed.blocks[stands_for[made]];
    StepBlock& gone = changed.blocks[made];
    itself.end = std::max(itself.end, kept[made] ? gone.end : std::min(used[stands_for[made]], gone.end));
    itself.category = gone.category;
    gone.requested = 0;
    gone.end = gone.begin;
  }
  changed.without_caches = true;
  return changed;
}

}  // namespace vramscope::whatif
