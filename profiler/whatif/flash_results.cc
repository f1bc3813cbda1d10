// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/flash_results.h"

#include <algorithm>
#include <optional>

#include "profiler/whatif/attention.h"
#include "profiler/whatif/filled_heads.h"
#include "profiler/whatif/holders.h"
#include "profiler/whatif/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr size_t kRank = 4;
constexpr uint16_t kMask = 3;  // argument

// A result, and how it lay and will lie.
struct Moved {
  uint32_t block = kNone;
  std::span<const int64_t> before;
  Extents now;
};

// Nothing where flash attention is not in the place of `op`, or where the result lies as before.
std::optional<Moved> MovedBy(const Step& step, const Op& op, const std::vector<bool>& low) {
  if (step.NameOf(op) != "aten::_efficient_attention_forward" || op.output_count == 0) return std::nullopt;
  const std::span<const Operand> given = InputsOf(step, op);
  const Operand& made = OutputsOf(step, op)[0];
  if (given.empty() || made.block == kNone || !low[made.block] || FillsHeads(step, op) ||
      std::any_of(given.begin(), given.end(), [](const Operand& one) { return one.argument == kMask; }))
    return std::nullopt;
  const std::span<const int64_t> sizes = SizesOf(step, given[0]), strides = StridesOf(step, given[0]),
                                 before = StridesOf(step, made);
  if (sizes.size() != kRank || strides.size() != kRank || before.size() != kRank ||
      sizes.back() > kWidestFlash || !std::ranges::equal(sizes, SizesOf(step, made)))
    return std::nullopt;
  Moved moved{made.block, before, StridesOfResult(sizes, strides)};
  if (std::ranges::equal(moved.before, moved.now)) return std::nullopt;
  return moved;
}

// Those of a tensor of the result, which has its dimensions in any order.
std::optional<Extents> StridesNow(const Moved& moved, std::span<const int64_t> strides) {
  if (strides.size() != kRank) return std::nullopt;
  Extents now;
  for (const int64_t stride : strides) {
    const auto same = std::find(moved.before.begin(), moved.before.end(), stride);
    if (same == moved.before.end()) return std::nullopt;
    now.push_back(moved.now[static_cast<size_t>(same - moved.before.begin())]);
  }
  return now;
}

// The operator that copies the result in another order, which is that of its memory now; kNone: none does.
uint32_t CopierOf(const Step& step, const Moved& moved) {
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    const std::string_view name = step.NameOf(op);
    if ((name != "aten::reshape" && name != "aten::contiguous") || op.node != kNone || op.input_count == 0 ||
        op.output_count == 0)
      continue;
    const Operand &from = InputsOf(step, op)[0], &to = OutputsOf(step, op)[0];
    if (from.block != moved.block || to.block == moved.block || to.block == kNone) continue;
    const auto now = StridesNow(moved, StridesOf(step, from));
    const auto seen = now ? StridesOfView(SizesOf(step, from), *now, SizesOf(step, to)) : std::nullopt;
    const bool view = seen && std::ranges::equal(*seen, StridesOf(step, to)) &&
                      step.blocks[to.block].begin > op.begin &&
                      step.blocks[to.block].requested == step.blocks[moved.block].requested;
    return view ? i : kNone;
  }
  return kNone;
}

class Views {
 public:
  explicit Views(Step& changed) : changed_(changed) {}

  void Take(const Moved& moved, uint32_t copy) {
    for (Operand& operand : changed_.operands) {
      if (operand.block == copy)
        operand.block = moved.block;
      else if (operand.block == moved.block)
        Lay(operand, moved);
    }
    const auto rename = [&](uint32_t& block) {
      if (block == copy) block = moved.block;
    };
    for (Saved& saved : changed_.saved) rename(saved.block);
    for (Held& held : changed_.held) rename(held.block);
    for (Named& named : changed_.named) rename(named.block);
    for (StepBlock& block : changed_.blocks) rename(block.copy_of);
    MergeNamed(changed_.named);
    StepBlock &result = changed_.blocks[moved.block], &gone = changed_.blocks[copy];
    result.end = std::max(result.end, gone.end);
    result.category = gone.category;
    gone.requested = 0;
    gone.end = gone.begin;
  }

 private:
  void Lay(Operand& operand, const Moved& moved) {
    const auto now = StridesNow(moved, StridesOf(changed_, operand));
    if (!now) return;
    operand.strides = static_cast<uint32_t>(changed_.shapes.size());
    changed_.shapes.push_back(
        {static_cast<uint32_t>(changed_.dims.size()), static_cast<uint32_t>(now->size()), true});
    changed_.dims.insert(changed_.dims.end(), now->begin(), now->end());
  }

  Step& changed_;
};

}  // namespace

void TakeResultsAsViews(const Step& step, const std::vector<bool>& low, Step& changed) {
  Views views(changed);
  for (const Op& op : step.ops) {
    const auto moved = MovedBy(step, op, low);
    const uint32_t copier = moved ? CopierOf(step, *moved) : kNone;
    const uint32_t copy = copier == kNone ? kNone : OutputsOf(step, step.ops[copier])[0].block;
    if (copy != kNone && low[copy]) views.Take(*moved, copy);
  }
}

}  // namespace vramscope::whatif
