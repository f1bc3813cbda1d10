// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/copied_views.h"

#include <algorithm>
#include <span>

#include "profiler/whatif/lifetimes/last_uses.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// The operand's sizes with one sample, which it has in one of its dimensions.
std::optional<Extents> SizesOfOneSample(const Step& step, const BatchAxis& axis, const Operand& operand) {
  Extents sizes(SizesOf(step, operand).begin(), SizesOf(step, operand).end());
  for (uint32_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] % axis.batch != 0 || ElementsOfSample(step, axis, operand, d) == 0) continue;
    sizes[d] /= axis.batch;
    return sizes;
  }
  return std::nullopt;
}

// Distances of a view of the result where the result's own dimensions have these; nothing where one of the
// view's is not within one of them.
std::optional<Extents> StridesIn(const Step& step, const Operand& view, const Operand& result,
                                 const Extents& now) {
  const std::span<const int64_t> sizes = SizesOf(step, view), apart = StridesOf(step, view);
  const std::span<const int64_t> extents = SizesOf(step, result), before = StridesOf(step, result);
  if (sizes.size() != apart.size() || extents.size() != before.size()) return std::nullopt;
  Extents strides(sizes.size(), 1);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    size_t of = 0;
    while (of < extents.size() && (before[of] == 0 || apart[d] % before[of] != 0 || apart[d] < before[of] ||
                                   apart[d] * sizes[d] > before[of] * extents[of]))
      ++of;
    if (of == extents.size()) return std::nullopt;
    strides[d] = apart[d] / before[of] * now[of];
  }
  return strides;
}

// Until when what the reshape makes for the product behind it is there: autograd keeps it for the other
// factor's gradient, or it goes with what calls both.
Position UntilProductLetsGo(const Step& step, uint32_t reshape, uint32_t block) {
  const Op& op = step.ops[reshape];
  const std::span<const int64_t> made = SizesOf(step, OutputsOf(step, op)[0]);
  const Position end = step.ops[op.parent].end;
  for (uint32_t i = reshape + 1; i < step.ops.size() && step.ops[i].begin < end; ++i) {
    if (step.ops[i].parent != op.parent) continue;
    const std::span<const Operand> given = InputsOf(step, step.ops[i]);
    if (std::none_of(given.begin(), given.end(), [&](const Operand& one) {
          return one.block == block && std::ranges::equal(SizesOf(step, one), made);
        }))
      continue;
    for (const Saved& saved : step.saved) {
      if (saved.block == block && saved.node != kNone && step.nodes[saved.node].op == i)
        return saved.released;
    }
    break;
  }
  return end;
}

// A convolution is given what is seen so.
bool IsConvolved(const Step& step, const Operand& image) {
  return std::ranges::any_of(step.ops, [&](const Op& op) {
    return op.node == kNone && op.input_count != 0 && step.NameOf(op) == "aten::convolution" &&
           IsSameView(step, InputsOf(step, op)[0], image);
  });
}

}  // namespace

std::optional<Extents> ViewOfOneSample(const Step& step, const BatchAxis& axis, const Op& reshape) {
  if (reshape.input_count == 0 || reshape.output_count == 0) return std::nullopt;
  const Operand &from = InputsOf(step, reshape)[0], &to = OutputsOf(step, reshape)[0];
  const std::span<const int64_t> sizes = SizesOf(step, from), wanted = SizesOf(step, to);
  const std::span<const int64_t> strides = StridesOf(step, from);
  if (strides.size() != sizes.size()) return std::nullopt;
  size_t d = 0;
  while (d < std::min(sizes.size(), wanted.size()) && sizes[d] == wanted[d]) ++d;
  // What is the same in front of the samples stays: q, k and v. Those may be as many as other things are.
  if (d == std::min(sizes.size(), wanted.size()) || sizes[d] != axis.batch) d = 0;
  if (sizes.empty() || wanted.empty() || sizes[d] != axis.batch || wanted[d] % axis.batch != 0)
    return std::nullopt;
  const bool expanded = d == 0 && strides[0] == 0 && to.block != kNone && axis.stride[to.block] != 0;
  if (!expanded && ElementsOfSample(step, axis, from, static_cast<uint32_t>(d)) == 0) return std::nullopt;
  Extents one(sizes.begin(), sizes.end()), other(wanted.begin(), wanted.end());
  one[d] = 1, other[d] /= axis.batch;
  return StridesOfView(one, strides, other);
}

std::vector<Block> CopiesOfViews(const Step& step, const BatchAxis& axis, const Op& reshape,
                                 const Block& copy) {
  constexpr Position kInside = 0.5;  // behind an operator's begin
  std::vector<Block> copies;
  const std::optional<Extents> lies = ViewOfOneSample(step, axis, reshape);
  if (!lies) return copies;
  const Operand& result = OutputsOf(step, reshape)[0];
  const uint32_t block = copy.origin;
  const Position again = copy.begin - step.blocks[block].begin;  // where a lever computes it later
  for (const auto& [first, i] : FirstTakersOf(step).Of(block)) {
    const Op& op = step.ops[i];
    if (op.parent == kNone || op.node != kNone || op.begin < reshape.end) continue;
    const Operand &from = InputsOf(step, op)[0], &to = OutputsOf(step, op)[0];
    if (to.block != block || step.NameOf(op) != "aten::reshape") continue;
    const std::optional<Extents> sizes = SizesOfOneSample(step, axis, from),
                                 wanted = SizesOfOneSample(step, axis, to),
                                 strides = StridesIn(step, from, result, *lies);
    if (!sizes || !wanted || !strides || StridesOfView(*sizes, *strides, *wanted)) continue;
    Block own = copy;
    own.bytes = copy.bytes * ElementsIn(step, from) / ElementsIn(step, result);
    own.begin = op.begin + kInside + again;
    own.end = std::min(UntilProductLetsGo(step, i, block), copy.end);
    if (own.begin < own.end) copies.push_back(own);
  }
  return copies;
}

std::string WhyOneLiesOtherwise(const Step& step, const BatchAxis& axis) {
  constexpr uint32_t kImage = 4;
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.input_count == 0 || op.output_count == 0) continue;
    if (step.NameOf(op) != "aten::view" && step.NameOf(op) != "aten::reshape") continue;
    const Operand& image = OutputsOf(step, op)[0];
    const std::span<const int64_t> sizes = SizesOf(step, image), strides = StridesOf(step, image);
    if (sizes.size() != kImage || sizes[0] != axis.batch || !LiesChannelsLast(sizes, strides)) continue;
    if (LiesWithoutGaps(sizes, strides)) continue;  // with one channel, or of one point
    const std::optional<Extents> one = ViewOfOneSample(step, axis, op);
    if (!one || (*one)[0] >= sizes[1] * sizes[2] * sizes[3] || !IsConvolved(step, image)) continue;
    return "a view of [" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + ", " +
           std::to_string(sizes[2]) + ", " + std::to_string(sizes[3]) +
           "] lies channels last, which PyTorch does not say of one of one sample: convolutions copy "
           "what they are given then. Record it with one sample.";
  }
  return "";
}

}  // namespace vramscope::whatif
