// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/leaves.h"

#include <algorithm>
#include <span>

#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {

using model::kNone;

LeafGradients::LeafGradients(const Step& step, uint8_t low, uint8_t leaf, const GradientMoments& moments,
                             const CopiesGradients& copies, Versions& versions)
    : step_(step), low_(low), leaf_(leaf), moments_(moments), copies_(copies), versions_(versions) {}

void LeafGradients::Take(const Operand& gradient, const Op& op) {
  const uint32_t block = gradient.block;
  // Else it is copied, or added to what is there.
  const bool taken = step_.blocks[block].accumulated < kForever, fits = versions_.TypeOf(block) == leaf_;
  if (fits && !taken) return;
  if (fits) return versions_.HandOver(block);
  const auto sum = last_added_.find(block);
  const Operand& last = sum == last_added_.end() ? gradient : sum->second;
  Position at = CastAside(last);
  if (at == kBefore && leaf_ == low_) at = copies_.ConvertsLeaf(last.block);
  if (at == kBefore)
    at = moments_.OfLeaf(last, &last == &gradient ? step_.blocks[block].begin : op.begin, op.begin);
  if (!taken) return versions_.Cast(block, leaf_, at, kNone, gradient);
  return versions_.CastGradient(block, leaf_, at, gradient);
}

// with torch.no_grad(): x = layer(x), and then layer(x) again: autocast keeps the copy of the weight that the
// first call made, and its node, which is older than all that is differentiated. Of such nodes the engine
// runs the one that was made last first.
Position LeafGradients::CastAside(const Operand& gradient) const {
  const uint32_t call = moments_.CallOf(gradient.block);
  if (call == kNone) return kBefore;
  const uint64_t bytes = step_.blocks[gradient.block].requested;
  for (const Operand& operand : InputsOf(step_, step_.ops[call])) {
    if (!IsFloat(operand) || ElementsIn(step_, operand) * BytesOf(kFloatType) != bytes) continue;
    const uint32_t by = versions_.CachedBy(operand.block);
    if (by == kNone || by == call || moments_.HasNodes(by)) continue;
    const Position made = step_.ops[by].begin, done = moments_.NodesEndBehind(made, gradient.block);
    return done + kBeforeNode * (1 - made / done);
  }
  return kBefore;
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
