// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/attention/flash_results.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/attention/filled_heads.h"
#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr size_t kRank = 4;

// A result, and how it lay and will lie.
struct Moved {
  uint32_t block = kNone;
  std::span<const int64_t> sizes, before;
  Extents now;
};

// Whether flash attention is in the place of the operator, which makes `made`.
bool IsFlash(const Step& step, const Op& op, const Operand& made, const std::vector<bool>& low) {
  const std::span<const Operand> given = InputsOf(step, op);
  const uint16_t mask = step.NameOf(op) == kEfficientForward ? 3 : 4;  // argument
  return made.block != kNone && low[made.block] && !FillsHeads(step, op) &&
         std::none_of(given.begin(), given.end(), [&](const Operand& one) { return one.argument == mask; });
}

// Nothing where the result does not lie otherwise than before when it lies like an operand of the operator.
std::optional<Moved> MovedLike(const Step& step, const Operand& like, const Operand& made) {
  const std::span<const int64_t> sizes = SizesOf(step, like), strides = StridesOf(step, like),
                                 before = StridesOf(step, made);
  if (sizes.size() != kRank || strides.size() != kRank || before.size() != kRank ||
      sizes.back() > kWidestFlash || !std::ranges::equal(sizes, SizesOf(step, made)))
    return std::nullopt;
  Moved moved{made.block, sizes, before, StridesOfResult(sizes, strides)};
  if (std::ranges::equal(moved.before, moved.now)) return std::nullopt;
  return moved;
}

// Nothing where flash attention is not in the place of `op`, or where the result lies as before.
std::optional<Moved> MovedBy(const Step& step, const Op& op, const std::vector<bool>& low) {
  if (step.NameOf(op) != kEfficientForward || op.output_count == 0 || op.input_count == 0)
    return std::nullopt;
  const Operand& made = OutputsOf(step, op)[0];
  return IsFlash(step, op, made, low) ? MovedLike(step, InputsOf(step, op)[0], made) : std::nullopt;
}

// The same of gradients that lie like queries, keys and values, which follow the gradient that is given.
std::vector<Moved> GradientsMovedBy(const Step& step, const Op& op, const std::vector<bool>& low) {
  std::vector<Moved> gradients;
  if (step.NameOf(op) != kEfficientBackward) return gradients;
  for (const Operand& made : OutputsOf(step, op)) {
    if (made.argument > 2 || !IsFlash(step, op, made, low)) continue;
    for (const Operand& given : InputsOf(step, op)) {
      if (given.argument != made.argument + 1) continue;
      if (const auto moved = MovedLike(step, given, made)) gradients.push_back(*moved);
    }
  }
  return gradients;
}

// A gradient behind which copies were made that are views of it now.
class Follower {
 public:
  Follower(const Step& step, const Moved& moved, const std::vector<bool>& low)
      : step_(step), low_(low), block_(moved.block), requested_(step.blocks[moved.block].requested) {
    // What is shown is [batch, rows, heads, width] in any order.
    for (size_t d = 0; d < moved.now.size(); ++d)
      lies_.push_back({moved.sizes[d], moved.before[d], moved.now[d]});
  }

  // Behind that moment, in order. Who reads it otherwise than as a view ends the search.
  std::vector<uint32_t> Copies(Position behind) {
    uint32_t next = 0;
    while (const std::optional<uint32_t> index = Next(next, behind)) {
      const Op& op = step_.ops[*index];
      const std::string_view name = step_.NameOf(op);
      const bool shown_otherwise = name == "aten::reshape" || name == "aten::view";
      if (shown_otherwise ? !Show(InputsOf(step_, op)[0], OutputsOf(step_, op)[0])
                          : name != "aten::transpose" && name != "aten::permute")
        break;
      behind = op.end;  // what is inside of it has been said
      next = *index + 1;
    }
    return std::move(copies_);
  }

 private:
  struct Dimension {
    int64_t size, before, now;
  };

  // The operator of backward that is given the block, as it is called now.
  [[nodiscard]] std::optional<uint32_t> Next(uint32_t from, Position behind) const {
    for (const auto& [block, op] : FirstTakersOf(step_).Of(block_, from))
      if (step_.ops[op].begin >= behind && step_.ops[op].node != kNone) return op;
    return std::nullopt;
  }

  bool Show(const Operand& from, const Operand& to) {
    const std::span<const int64_t> sizes = SizesOf(step_, from), strides = StridesOf(step_, from),
                                   other = SizesOf(step_, to), before = StridesOf(step_, to);
    if (strides.size() != sizes.size() || before.size() != other.size() || to.block == kNone) return false;
    Extents now;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const auto same = std::ranges::find_if(lies_, [&](const Dimension& one) {
        return one.size == sizes[d] && (one.size == 1 || one.before == strides[d]);
      });
      if (same == lies_.end()) return false;
      now.push_back(same->now);
    }
    const auto seen = StridesOfView(sizes, now, other);
    if (!seen) return false;
    if (to.block != block_) {
      if (!low_[to.block] || step_.blocks[to.block].requested != requested_) return false;
      copies_.push_back(to.block);
      block_ = to.block;
    }
    lies_.clear();
    for (size_t d = 0; d < other.size(); ++d) lies_.push_back({other[d], before[d], (*seen)[d]});
    return !std::ranges::equal(before, *seen);
  }

  const Step& step_;
  const std::vector<bool>& low_;
  uint32_t block_;
  uint64_t requested_;
  std::vector<Dimension> lies_;
  std::vector<uint32_t> copies_;
};

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
  for (const auto& [block, i] : FirstTakersOf(step).Of(moved.block)) {
    const Op& op = step.ops[i];
    const std::string_view name = step.NameOf(op);
    if ((name != "aten::reshape" && name != "aten::contiguous") || op.node != kNone) continue;
    const Operand &from = InputsOf(step, op)[0], &to = OutputsOf(step, op)[0];
    if (to.block == moved.block || to.block == kNone) continue;
    const auto now = StridesNow(moved, StridesOf(step, from));
    const auto seen = now ? StridesOfView(SizesOf(step, from), *now, SizesOf(step, to)) : std::nullopt;
    const bool view = seen && std::ranges::equal(*seen, StridesOf(step, to)) &&
                      step.blocks[to.block].begin > op.begin &&
                      step.blocks[to.block].requested == step.blocks[moved.block].requested;
    return view ? i : kNone;
  }
  return kNone;
}

// The operator of backward that showed the gradient in other sizes where it lay, and copies it now; kNone:
// none does.
uint32_t ViewerOf(const Step& step, const Moved& moved, Position behind) {
  for (const auto& [block, i] : FirstTakersOf(step).Of(moved.block)) {
    const Op& op = step.ops[i];
    if (op.begin < behind || step.NameOf(op) != "aten::reshape" || op.node == kNone) continue;
    const Operand &from = InputsOf(step, op)[0], &to = OutputsOf(step, op)[0];
    const std::span<const int64_t> sizes = SizesOf(step, from), other = SizesOf(step, to);
    if (to.block == moved.block && std::ranges::equal(sizes, other)) continue;
    const auto now = to.block == moved.block ? StridesNow(moved, StridesOf(step, from)) : std::nullopt;
    return now && !StridesOfView(sizes, *now, other) ? i : kNone;
  }
  return kNone;
}

class Views {
 public:
  explicit Views(Step& changed) : changed_(changed), operands_(changed.blocks.size()) {
    for (uint32_t i = 0; i < changed.operands.size(); ++i)
      if (changed.operands[i].block != kNone) operands_[changed.operands[i].block].push_back(i);
  }
  ~Views() { Rename(); }

  void Take(const Moved& moved, uint32_t copy) {
    std::vector<uint32_t>&own = operands_[moved.block], &others = operands_[copy];
    for (const uint32_t operand : own) Lay(changed_.operands[operand], moved);
    for (const uint32_t operand : others) changed_.operands[operand].block = moved.block;
    own.insert(own.end(), others.begin(), others.end());
    others.clear();
    for (auto& [from, to] : renamed_)
      if (to == copy) to = moved.block;
    renamed_.emplace(copy, moved.block);
    StepBlock &result = changed_.blocks[moved.block], &gone = changed_.blocks[copy];
    result.end = std::max(result.end, gone.end);
    result.category = gone.category;
    gone.requested = 0;
    gone.end = gone.begin;
  }

 private:
  void Rename() {
    if (renamed_.empty()) return;
    const auto rename = [&](uint32_t& block) {
      if (const auto found = renamed_.find(block); found != renamed_.end()) block = found->second;
    };
    for (Saved& saved : changed_.saved) rename(saved.block);
    for (Held& held : changed_.held) rename(held.block);
    for (Named& named : changed_.named) rename(named.block);
    for (StepBlock& block : changed_.blocks) rename(block.copy_of);
    MergeNamed(changed_.named);
  }

  void Lay(Operand& operand, const Moved& moved) {
    const auto now = StridesNow(moved, StridesOf(changed_, operand));
    if (!now) return;
    operand.strides = static_cast<uint32_t>(changed_.shapes.size());
    changed_.shapes.push_back(
        {static_cast<uint32_t>(changed_.dims.size()), static_cast<uint32_t>(now->size()), true});
    changed_.dims.insert(changed_.dims.end(), now->begin(), now->end());
  }

  Step& changed_;
  std::vector<std::vector<uint32_t>> operands_;     // by block
  std::unordered_map<uint32_t, uint32_t> renamed_;  // copies, and what they are views of
};

// The gradient, or what was made of it in another type, which lies alike (empty_strided, empty_like): the
// last one made that is there from before `viewer` until behind its node; kNone: none.
uint32_t ShownBy(uint32_t gradient, Position viewer, Position behind, const Step& changed) {
  uint32_t shown = kNone;
  for (uint32_t i = gradient; i < changed.blocks.size(); ++i) {
    const StepBlock& one = changed.blocks[i];
    if ((i != gradient && one.copy_of != gradient) || one.requested == 0 || one.begin >= viewer ||
        one.end <= behind)
      continue;
    if (shown == kNone || changed.blocks[shown].begin < one.begin) shown = i;
  }
  return shown;
}

// Where `viewer` works it copies the gradient, which goes behind the node.
void Copy(const Step& step, uint32_t gradient, uint32_t viewer, Step& changed) {
  uint32_t outermost = viewer;
  while (step.ops[outermost].parent != kNone) outermost = step.ops[outermost].parent;
  const Position behind = step.ops[outermost].end;
  const uint32_t shown = ShownBy(gradient, step.ops[viewer].begin, behind, changed);
  if (shown == kNone) return;
  StepBlock copy = CopyOf(step, gradient);
  copy.requested = changed.blocks[shown].requested;
  copy.begin = step.ops[viewer].begin + kStride;
  copy.end = changed.blocks[shown].end;
  copy.op = viewer;
  copy.category = classify::Category::kTemporaryBackward;
  changed.blocks.push_back(copy);
  changed.blocks[shown].end = behind + kStride;
}

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

void CopyGradientsInOtherOrder(const Step& step, const std::vector<bool>& low, Step& changed) {
  for (const Op& op : step.ops) {
    for (const Moved& moved : GradientsMovedBy(step, op, low)) {
      const uint32_t viewer = ViewerOf(step, moved, op.end);
      if (viewer != kNone) Copy(step, moved.block, viewer, changed);
    }
  }
}

void TakeGradientsAsViews(const Step& step, const std::vector<bool>& low, Step& changed) {
  Views views(changed);
  for (const Op& op : step.ops) {
    for (const Moved& moved : GradientsMovedBy(step, op, low))
      for (const uint32_t copy : Follower(step, moved, low).Copies(op.end)) views.Take(moved, copy);
  }
}

void TakeBackGradientCopies(const Step& step, const std::vector<uint32_t>& gradients, Step& changed) {
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& copy = step.blocks[i];
    if (copy.op == kNone || step.NameOf(step.ops[copy.op]) != "aten::reshape" ||
        step.ops[copy.op].node == kNone || copy.begin != step.ops[copy.op].begin + kStride ||
        std::ranges::find(gradients, copy.copy_of) == gradients.end())
      continue;
    Position& end = changed.blocks[copy.copy_of].end;
    end = std::max(end, copy.end);
    Drop(changed.blocks[i]);
  }
}

}  // namespace vramscope::whatif
