// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision_leaves.h"

#include <algorithm>
#include <span>

#include "profiler/whatif/precision_moments.h"

namespace vramscope::whatif {

using model::kNone;

LeafGradients::LeafGradients(const Step& step, uint8_t low, uint8_t leaf, const GradientMoments& moments,
                             Versions& versions)
    : step_(step), low_(low), leaf_(leaf), moments_(moments), versions_(versions) {}

void LeafGradients::Take(const Operand& gradient, const Op& op) {
  const uint32_t block = gradient.block;
  // Else it is copied, or added to what is there.
  const bool taken = step_.blocks[block].accumulated < kForever, fits = versions_.TypeOf(block) == leaf_;
  if (fits && !taken) return;
  if (fits) return versions_.HandOver(block);
  const auto sum = last_added_.find(block);
  const Position at = sum == last_added_.end()
                          ? moments_.OfLeaf(gradient, step_.blocks[block].begin, op.begin)
                          : moments_.OfLeaf(sum->second, op.begin, op.begin);
  if (!taken) return versions_.Cast(block, leaf_, at, kNone, gradient);
  return versions_.CastGradient(block, leaf_, at, gradient);
}

bool LeafGradients::AddsBeforeCast(const Op& add, uint32_t node) {
  const std::span<const Operand> added = InputsOf(step_, add);
  if (step_.nodes[node].op != kNone || leaf_ == low_ || added.size() < 2) return false;
  const bool all = std::all_of(added.begin(), added.begin() + 2, [&](const Operand& operand) {
    return IsFloat(operand) && versions_.Known(operand.block) && versions_.TypeOf(operand.block) == low_ &&
           (last_added_.contains(operand.block) || moments_.ByANode(operand.block));
  });
  if (all) last_added_[OutputsOf(step_, add)[0].block] = added[1];
  return all;
}

}  // namespace vramscope::whatif
