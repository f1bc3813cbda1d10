// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/precision/kernels.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint16_t kBias = 3;  // argument: a mask that is added
constexpr Position kBeforeOp = 0.5;

// [batch, rows, heads, width] whose heads lie one after the other, all rows of one together.
bool LiesHeadsFirst(const Step& step, const Operand& operand) {
  if (step.Rank(operand.shape) != 4 || step.Rank(operand.strides) != 4) return false;
  const int64_t* const dims = step.Dims(operand.shape);
  const int64_t* const strides = step.Dims(operand.strides);
  return dims[1] > 1 && dims[2] > 1 && strides[1] < strides[2];
}

// Whether `op` is memory-efficient attention that flash attention would replace, with such queries.
bool ReturnsHeadsFirst(const Step& step, const Op& op) {
  if (step.NameOf(op) != kEfficientForward) return false;
  const std::span<const Operand> given = InputsOf(step, op);
  const auto is_argument = [](uint16_t place) {
    return [place](const Operand& one) { return one.argument == place; };
  };
  const auto query = std::ranges::find_if(given, is_argument(0));
  return query != given.end() && std::ranges::none_of(given, is_argument(kBias)) &&
         (LiesHeadsFirst(step, *query) || FillsHeads(step, op)) && SizesOf(step, *query)[3] <= kWidestFlash;
}

const Op& OutermostOf(const Step& step, const Op& op) {
  const Op* outermost = &op;
  while (outermost->parent != kNone) outermost = &step.ops[outermost->parent];
  return *outermost;
}

}  // namespace

bool JoinsHeads(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  if ((name != "aten::reshape" && name != "aten::view" && name != "aten::flatten") || op.output_count == 0 ||
      op.input_count == 0)
    return false;
  const Operand& from = InputsOf(step, op)[0];
  const Operand& into = OutputsOf(step, op)[0];
  const uint32_t rank = step.Rank(from.shape), left = step.Rank(into.shape);
  if (from.block != into.block || rank != 4 || left == 0) return false;
  const int64_t* const dims = step.Dims(from.shape);
  return dims[2] > 1 && step.Dims(into.shape)[left - 1] == dims[2] * dims[3];
}

bool HeadsFirst::Begin(const Op& op) {
  filled_.Begin(op);
  masks_.Begin(op);
  if (products_.Begin(op)) return true;
  if (op.parent == kNone && JoinsHeads(step_, op)) Copy(InputsOf(step_, op)[0], op.begin - kBeforeOp);
  return false;
}

void HeadsFirst::End(const Op& op) {
  filled_.End(op);
  masks_.End(op);
  products_.End(op);
  layouts_.Converted(op);
  if (op.output_count == 0) return;
  const Operand& made = OutputsOf(step_, op)[0];
  if (made.block == kNone) return;
  if (ReturnsHeadsFirst(step_, op) && versions_.IsLow(made.block))
    left_[made.block] = OutermostOf(step_, op).left;
  else if (ReturnsRows(op))
    Copy(made, op.end);
}

// return attended.transpose(1, 2).contiguous(): the second is no operator where nothing is to be copied. A
// function that calls attention for others puts rows first so that they need not.
bool HeadsFirst::ReturnsRows(const Op& op) const {
  const std::string_view name = step_.NameOf(op);
  if (op.parent != kNone || (name != "aten::transpose" && name != "aten::permute")) return false;
  const Operand& rows = OutputsOf(step_, op)[0];
  const auto found = left_.find(rows.block);
  if (found == left_.end() || op.end >= found->second ||
      !LiesWithoutGaps(SizesOf(step_, rows), StridesOf(step_, rows)))
    return false;
  const uint32_t next = TakersOf(step_).Next(rows.block, rows.op);
  return next != kNone && step_.ops[next].node == kNone && step_.ops[next].begin >= found->second;
}

void HeadsFirst::Copy(const Operand& attended, Position at) {
  if (!left_.contains(attended.block) || versions_.IsCopy(attended.block)) return;
  versions_.Replace(attended.block, low_, at, attended);
  versions_.NamedAtMost(attended.block, NamedAsMadeBefore(step_, attended.block, at));
}

}  // namespace vramscope::whatif
