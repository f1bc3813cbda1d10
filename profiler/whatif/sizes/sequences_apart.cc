// SPDX-License-Identifier: Apache-2.0
// Which of a step's inputs are its sequence, where several are as long.
#include <algorithm>

#include "profiler/whatif/sizes/asked_axis.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/sizes/batch_kinds.h"
#include "profiler/whatif/sizes/carried_axis.h"
#include "profiler/whatif/sizes/tokens.h"

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

// Whether a dimension, counted from the right, holds the one axis alone in the one operand and the other
// alone in the other.
bool StandInOne(const Step& step, const Operand& a, const BatchAxis& axis_of_a, const Operand& b,
                const BatchAxis& axis_of_b) {
  const auto only = [&](const Operand& operand, const BatchAxis& of, const BatchAxis& without,
                        uint32_t back) {
    const uint32_t rank = step.Rank(operand.shape);
    if (operand.block == kNone || back > rank || PlacesIn(without, operand.block)[0] != 0) return false;
    return std::ranges::any_of(PlacesIn(of, operand.block), [&](uint64_t place) {
      return ElementsWithin(step, of.StrideIn(operand, place), operand, rank - back) != 0;
    });
  };
  for (uint32_t back = 1; back <= step.Rank(a.shape); ++back)
    if (only(a, axis_of_a, axis_of_b, back) && only(b, axis_of_b, axis_of_a, back)) return true;
  return false;
}

// The same where an operator writes into what it was given, as the biases of distances between boxes are
// added to attention's scores: that has its places already, and those of the other are compared with them.
// Not what is filled in part, nor copies: one may stand behind the other there.
bool MeetInPlace(const Step& step, const BatchAxis& one, const BatchAxis& other) {
  return std::any_of(step.ops.begin(), step.ops.end(), [&](const Op& op) {
    if (op.node != kNone || op.output_count == 0 || op.input_count < 2) return false;
    if (KindNamed(step.NameOf(op)) != Kind::kElementwise || step.NameOf(op) == "aten::copy_") return false;
    const std::span<const Operand> inputs = InputsOf(step, op);
    const Operand& into = OutputsOf(step, op)[0];
    if (into.block == kNone || into.block != inputs[0].block || !AreBroadcast(step, op, into)) return false;
    if (into.offset != 0 || BytesUpTo(step, into) != step.blocks[into.block].requested) return false;
    return std::any_of(inputs.begin() + 1, inputs.end(), [&](const Operand& operand) {
      return StandInOne(step, into, one, operand, other) || StandInOne(step, into, other, operand, one);
    });
  });
}

// With what that meets, and what is made of it.
Result<BatchAxis> FollowAll(const Step& step, const Tokens& tokens, const BatchAxis* others) {
  return FollowAsked(step, true, [&](std::span<const AskedAxis> asked) {
    return FollowTokens(step, tokens, true, others, asked);
  });
}

}  // namespace

Result<BatchAxis> FollowSequence(const Step& step) {
  Result<Tokens> tokens = FindTokens(step);
  if (!tokens.ok()) return tokens.error();
  for (const auto* more : {&tokens->targets, &tokens->values})
    tokens->inputs.insert(tokens->inputs.end(), more->begin(), more->end());
  if (tokens->beside.empty()) return FollowAll(step, *tokens, nullptr);
  Tokens features = *tokens;
  features.inputs = tokens->beside;
  const Result<BatchAxis> own = FollowTokens(step, *tokens, false, nullptr);
  Result<BatchAxis> others = FollowTokens(step, features, false, nullptr);
  if (!own.ok()) return own.error();
  if (!others.ok()) return others.error();
  if (Meet(step, *own, *others) || MeetInPlace(step, *own, *others)) {
    tokens->inputs.insert(tokens->inputs.end(), tokens->beside.begin(), tokens->beside.end());
    return FollowAll(step, *tokens, nullptr);
  }
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {  // what is joined has both
    const PlacesOfAxis alone = Without(PlacesIn(*others, i), PlacesIn(*own, i));
    others->stride[i] = alone[0], others->second[i] = alone[1];
  }
  return FollowAll(step, *tokens, &*others);
}

}  // namespace vramscope::whatif
