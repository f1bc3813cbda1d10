// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/held_places.h"

#include <algorithm>

namespace vramscope::whatif {
namespace {

using model::kNone;

// The dimension of the operand, token by token, that is the sequence; its rank when there is none.
uint32_t TokensOf(const Step& step, const BatchAxis& axis, const Operand& operand) {
  uint32_t d = 0;
  while (d < step.Rank(operand.shape) &&
         (ElementsOfSample(step, axis, operand, d) != 1 || SizesOf(step, operand)[d] != axis.batch))
    ++d;
  return d;
}

// How many vectors of each sample the operand's were gathered from, for each of its tokens one of them; 0:
// they were not.
int64_t GatheredFrom(const Step& step, const BatchAxis& axis, const Operand& operand) {
  const uint32_t maker = operand.block == kNone ? kNone : step.blocks[operand.block].op;
  if (maker == kNone || step.NameOf(step.ops[maker]) != "aten::gather") return 0;
  const Operand& from = InputsOf(step, step.ops[maker])[0];
  if (from.block == kNone || axis.stride[from.block] != 0) return 0;
  const std::span<const int64_t> sizes = SizesOf(step, from), made = SizesOf(step, operand);
  const uint32_t tokens = TokensOf(step, axis, operand);
  if (sizes.size() != made.size() || tokens >= made.size()) return 0;
  for (uint32_t d = 0; d < made.size(); ++d)
    if (d != tokens && sizes[d] != made[d]) return 0;
  return sizes[tokens];
}

// masked_scatter(words, mask, pictures): of all samples together, as many as there are places.
int64_t Scattered(const Step& step, const BatchAxis& axis, const Op& op) {
  constexpr size_t kSource = 2;
  if (op.input_count <= kSource) return 0;
  const Operand &words = InputsOf(step, op)[0], &source = InputsOf(step, op)[kSource];
  const uint32_t tokens = TokensOf(step, axis, words);
  if (source.block == kNone || axis.stride[source.block] != 0 || tokens == step.Rank(words.shape)) return 0;
  const uint64_t all = ElementsIn(step, words) / static_cast<uint64_t>(axis.batch);  // of one token
  return all == 0 ? 0 : static_cast<int64_t>(ElementsIn(step, source) / all);
}

}  // namespace

std::string WhyPlacesAreHeld(const Step& step, const BatchAxis& axis) {
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.input_count == 0) continue;
    int64_t others = 0;
    if (step.NameOf(op) == "aten::masked_scatter") others = Scattered(step, axis, op);
    if (step.NameOf(op) == "aten::where")
      for (const Operand& operand : InputsOf(step, op))
        others = std::max(others, GatheredFrom(step, axis, operand));
    if (others == 0) continue;
    return "of the " + std::to_string(axis.batch) +
           " tokens of a sample some are places for others, of which there are up to " +
           std::to_string(others) + " (" + std::string(step.NameOf(op)) +
           "), and how many are words is not recorded: record with as many words as are wanted.";
  }
  return "";
}

}  // namespace vramscope::whatif
