// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/held_places.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace vramscope::whatif {
namespace {

using model::kNone;

// The dimension of the operand in which the tokens lie side by side, of one sample or of all; its rank when
// there is none.
uint32_t TokensOf(const Step& step, const BatchAxis& axis, const Operand& operand) {
  uint32_t d = 0;
  while (d < step.Rank(operand.shape) &&
         (ElementsOfSample(step, axis, operand, d) != 1 || SizesOf(step, operand)[d] % axis.batch != 0))
    ++d;
  return d;
}

// For each of its tokens one of the vectors that there are of each sample, which are no tokens.
bool AreGathered(const Step& step, const BatchAxis& axis, const Operand& operand) {
  const uint32_t maker = operand.block == kNone ? kNone : step.blocks[operand.block].op;
  if (maker == kNone || step.NameOf(step.ops[maker]) != "aten::gather") return false;
  const Operand& from = InputsOf(step, step.ops[maker])[0];
  if (from.block == kNone || axis.stride[from.block] != 0) return false;
  const std::span<const int64_t> sizes = SizesOf(step, from), made = SizesOf(step, operand);
  const uint32_t tokens = TokensOf(step, axis, operand);
  if (sizes.size() != made.size() || tokens >= made.size()) return false;
  for (uint32_t d = 0; d < made.size(); ++d)
    if (d != tokens && sizes[d] != made[d]) return false;
  return true;
}

// words.masked_scatter(mask, pictures), words.index_copy(0, places, pictures), words[places] = pictures
bool IsScattered(const Step& step, const BatchAxis& axis, const Op& op) {
  constexpr std::string_view kScatters[] = {"aten::masked_scatter", "aten::index_copy", "aten::index_put"};
  if (std::ranges::find(kScatters, step.NameOf(op)) == std::end(kScatters)) return false;
  const Operand &words = InputsOf(step, op).front(), &source = InputsOf(step, op).back();
  if (source.block == kNone || axis.stride[source.block] != 0) return false;
  return TokensOf(step, axis, words) != step.Rank(words.shape);
}

}  // namespace

std::string WhyPlacesAreHeld(const Step& step, const BatchAxis& axis) {
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.input_count == 0) continue;
    const std::span<const Operand> given = InputsOf(step, op);
    const bool chosen =
        step.NameOf(op) == "aten::where" &&
        std::ranges::any_of(given, [&](const Operand& operand) { return AreGathered(step, axis, operand); });
    if (chosen || IsScattered(step, axis, op))
      return "some of the " + std::to_string(axis.batch) + " tokens of a sample are places for others (" +
             std::string(step.NameOf(op)) +
             "), and how many are words is not recorded: record with as many words as are wanted.";
  }
  return "";
}

}  // namespace vramscope::whatif
