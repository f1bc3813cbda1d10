// SPDX-License-Identifier: Apache-2.0
// Which of a step's inputs are its sequence, where several are as long.
#include "profiler/whatif/batch_axis.h"
#include "profiler/whatif/tokens.h"

namespace vramscope::whatif {
namespace {

// Somewhere both are in the same place of a block: an operator has put the one beside the other, and asks
// them to be as many. Keys and queries of another sequence have places of their own in attention's scores.
bool Meet(const BatchAxis& one, const BatchAxis& other) {
  for (size_t i = 0; i < one.stride.size(); ++i) {
    for (const uint64_t stride : {one.stride[i], one.second[i]})
      if (stride != 0 && (stride == other.stride[i] || stride == other.second[i])) return true;
  }
  return false;
}

}  // namespace

Result<BatchAxis> FollowSequence(const Step& step) {
  Result<Tokens> tokens = FindTokens(step);
  if (!tokens.ok()) return tokens.error();
  if (tokens->beside.empty()) return FollowTokens(step, *tokens, true, nullptr);
  Tokens features = *tokens;
  features.inputs = tokens->beside;
  const Result<BatchAxis> own = FollowTokens(step, *tokens, false, nullptr);
  const Result<BatchAxis> others = FollowTokens(step, features, false, nullptr);
  if (!own.ok()) return own.error();
  if (!others.ok()) return others.error();
  if (!Meet(*own, *others)) return FollowTokens(step, *tokens, true, &*others);
  tokens->inputs.insert(tokens->inputs.end(), tokens->beside.begin(), tokens->beside.end());
  return FollowTokens(step, *tokens, true, nullptr);
}

}  // namespace vramscope::whatif
