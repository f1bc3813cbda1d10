// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/tokens.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

namespace vramscope::whatif {
namespace {

using classify::Category;

// Float16 to 64 and the brain's.
bool IsFloat(uint8_t dtype) { return (dtype >= 5 && dtype <= 7) || dtype == 15; }

// What multiplies by weights: a table of positions, which has a row for each token, is looked up or added.
bool IsLayer(std::string_view name) {
  constexpr std::string_view kLayers[] = {"aten::linear",     "aten::mm",       "aten::addmm",
                                          "aten::layer_norm", "aten::rms_norm", "aten::convolution"};
  return std::find(std::begin(kLayers), std::end(kLayers), name) != std::end(kLayers);
}

// Each input once, as the first operator has it.
std::vector<const Operand*> Inputs(const Step& step) {
  std::vector<const Operand*> inputs;
  std::vector<bool> seen(step.blocks.size(), false);
  for (const Operand& operand : step.operands) {
    if (operand.block == model::kNone || seen[operand.block]) continue;
    const uint32_t rank = step.Rank(operand.shape);
    if (step.blocks[operand.block].category != Category::kInput || !step.shapes[operand.strides].known)
      continue;
    seen[operand.block] = true;
    if (rank == 3 || (rank == 2 && !IsFloat(operand.dtype))) inputs.push_back(&operand);
  }
  return inputs;
}

// By block: it is ids, which a table is looked up by. What goes to each token beside it, a kind or a mask, is
// none of its own.
std::vector<bool> LookedUp(const Step& step) {
  std::vector<bool> ids(step.blocks.size(), false);
  for (const Op& op : step.ops) {
    if (op.node != model::kNone || op.input_count < 2 || step.NameOf(op) != "aten::embedding") continue;
    const Operand& index = InputsOf(step, op)[1];
    if (index.block != model::kNone && step.Rank(index.shape) > 1) ids[index.block] = true;
  }
  return ids;
}

struct Votes {
  bool looked_up = false;
  uint32_t inputs = 0;
  bool integers = false;
  auto operator<=>(const Votes&) const = default;
};

}  // namespace

Result<Tokens> FindTokens(const Step& step) {
  const std::vector<const Operand*> inputs = Inputs(step);
  // Ids are the tokens, and of as many of both kinds integers: the others may be regions of a picture, with
  // what they show and where they are.
  std::map<int64_t, Votes> votes;
  const std::vector<bool> looked_up = LookedUp(step);
  for (const Operand* const input : inputs) {
    Votes& vote = votes[step.Dims(input->shape)[1]];
    ++vote.inputs;
    vote.looked_up |= looked_up[input->block], vote.integers |= !IsFloat(input->dtype);
  }
  Tokens tokens;
  for (const auto& [size, vote] : votes) {
    if (tokens.length == 0 || vote > votes[tokens.length]) tokens.length = size;
  }
  if (tokens.length <= 1)
    return Error{
        "no sequence was seen among the inputs: [batch, tokens] of integers and [batch, tokens, features] "
        "are "
        "looked for, with 2 tokens or more."};
  for (const Operand* const input : inputs) {
    if (step.Dims(input->shape)[1] != tokens.length) continue;
    const bool features = IsFloat(input->dtype) && votes[tokens.length].integers;
    (features ? tokens.beside : tokens.inputs)
        .emplace_back(input->block, static_cast<uint64_t>(step.Dims(input->strides)[1]));
    if (step.Dims(input->shape)[0] == tokens.length)
      return Error{"the recorded batch has as many samples as a sample has tokens, " +
                   std::to_string(tokens.length) +
                   ": record with another batch, so that they can be told apart."};
  }
  for (const Operand& operand : step.operands) {
    const Op& op = step.ops[operand.op];
    if (operand.block == model::kNone || op.node != model::kNone || !IsLayer(step.NameOf(op)) ||
        step.blocks[operand.block].category != Category::kParameter)
      continue;
    for (uint32_t d = 0; d < step.Rank(operand.shape); ++d)
      tokens.sizes_of_model.insert(step.Dims(operand.shape)[d]);
  }
  return tokens;
}

}  // namespace vramscope::whatif
