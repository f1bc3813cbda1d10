// SPDX-License-Identifier: Apache-2.0
// Which of a step's inputs are its sequence, where several are as long.
#include <algorithm>

#include "profiler/whatif/batch_axis.h"
#include "profiler/whatif/batch_kinds.h"
#include "profiler/whatif/carried_axis.h"
#include "profiler/whatif/tokens.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

PlacesOfAxis PlacesIn(const BatchAxis& axis, uint32_t block) {
  return block == kNone ? PlacesOfAxis{} : PlacesOfAxis{axis.stride[block], axis.second[block]};
}

// An operator has put the one beside the other, in one place of its result, and asks them to be as many. Keys
// have another place in attention's scores than queries, and what is joined one behind the other may be of
// any lengths.
bool Meet(const Step& step, const BatchAxis& one, const BatchAxis& other) {
  const auto only = [&](const Operand& operand, const BatchAxis& of, const BatchAxis& without) {
    return PlacesIn(of, operand.block)[0] != 0 && PlacesIn(without, operand.block)[0] == 0;
  };
  return std::any_of(step.ops.begin(), step.ops.end(), [&](const Op& op) {
    if (op.node != kNone || op.output_count == 0 || KindNamed(step.NameOf(op)) == Kind::kJoin) return false;
    const std::span<const Operand> inputs = InputsOf(step, op);
    const uint32_t made = OutputsOf(step, op)[0].block;
    const PlacesOfAxis places = PlacesIn(one, made);
    return Without(places, PlacesIn(other, made)) != places &&
           std::ranges::any_of(inputs, [&](const Operand& input) { return only(input, one, other); }) &&
           std::ranges::any_of(inputs, [&](const Operand& input) { return only(input, other, one); });
  });
}

}  // namespace

Result<BatchAxis> FollowSequence(const Step& step) {
  Result<Tokens> tokens = FindTokens(step);
  if (!tokens.ok()) return tokens.error();
  if (tokens->beside.empty()) return FollowTokens(step, *tokens, true, nullptr);
  Tokens features = *tokens;
  features.inputs = tokens->beside;
  const Result<BatchAxis> own = FollowTokens(step, *tokens, false, nullptr);
  Result<BatchAxis> others = FollowTokens(step, features, false, nullptr);
  if (!own.ok()) return own.error();
  if (!others.ok()) return others.error();
  if (Meet(step, *own, *others)) {
    tokens->inputs.insert(tokens->inputs.end(), tokens->beside.begin(), tokens->beside.end());
    return FollowTokens(step, *tokens, true, nullptr);
  }
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {  // what is joined has both
    const PlacesOfAxis alone = Without(PlacesIn(*others, i), PlacesIn(*own, i));
    others->stride[i] = alone[0], others->second[i] = alone[1];
  }
  return FollowTokens(step, *tokens, true, &*others);
}

}  // namespace vramscope::whatif
