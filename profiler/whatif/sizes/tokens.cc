// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/tokens.h"

#include <algorithm>
#include <cstdlib>
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
    if (rank == 3 || rank == 2) inputs.push_back(&operand);
  }
  return inputs;
}

bool AreValues(const Step& step, const Operand& input) {
  return step.Rank(input.shape) == 2 && IsFloat(input.dtype);
}

// By block: it is ids, which a table is looked up by, alone or joined with ids that stand for an image, as
// torch.cat((ids.new_full((samples, 13), image), ids), 1). What goes to each token beside it, a kind or a
// mask, is none of its own.
std::vector<bool> LookedUp(const Step& step) {
  std::vector<bool> ids(step.blocks.size(), false);
  std::vector<uint32_t> joined(step.blocks.size(), model::kNone);  // by block: the input that is in there
  const auto input_of = [&](uint32_t block) {
    return step.blocks[block].category == Category::kInput ? block : joined[block];
  };
  for (const uint32_t index : step.op_ends) {
    const Op& op = step.ops[index];
    if (op.node != model::kNone) continue;
    const std::span<const Operand> inputs = InputsOf(step, op);
    const std::string_view name = step.NameOf(op);
    if (name == "aten::embedding" && inputs.size() > 1) {
      const uint32_t block = inputs[1].block;
      const uint32_t input = block == model::kNone ? block : input_of(block);
      if (input != model::kNone && step.Rank(inputs[1].shape) > 1) ids[input] = true;
    } else if (name == "aten::cat" && op.output_count != 0) {
      const uint32_t made = OutputsOf(step, op)[0].block;
      for (const Operand& part : inputs)
        if (made != model::kNone && part.block != model::kNone && step.Rank(part.shape) == 2 &&
            !IsFloat(part.dtype) && joined[made] == model::kNone)
          joined[made] = input_of(part.block);
    }
  }
  return ids;
}

// Which ids are written behind one another as those of the first are: looked up in the same table, or in one
// as large of another model that reads the same language, or moved by one token before they are looked up, as
// labels that a decoder is shown (shift_tokens_right() of transformers' models: new_zeros(), clone() and
// copy_()). Others may be kinds of anything.
class WrittenIds {
 public:
  explicit WrittenIds(const Step& step) : step_(step), of_(step.blocks.size(), model::kNone) {
    for (const uint32_t index : step.op_ends) {
      const Op& op = step.ops[index];
      if (op.node != model::kNone) continue;
      const std::span<const Operand> inputs = InputsOf(step, op);
      if (step.NameOf(op) == "aten::embedding" && inputs.size() > 1) {
        LookUp(inputs[0], inputs[1]);
      } else if (step.NameOf(op) == "aten::copy_" && inputs.size() > 1 && op.output_count != 0) {
        Copy(inputs[1], OutputsOf(step, op)[0]);
      } else if (op.output_count != 0) {
        for (const Operand& input : inputs)
          if (AreAsMany(input, OutputsOf(step, op)[0])) Copy(input, OutputsOf(step, op)[0]);
      }
    }
  }

  [[nodiscard]] bool AreBeside(uint32_t ids, const std::vector<std::pair<uint32_t, uint64_t>>& tokens) const {
    if (moved_.contains(ids)) return true;
    return std::ranges::any_of(tables_, [&](const auto& table) {
      return table.second.contains(ids) && std::ranges::any_of(tokens, [&](const auto& input) {
               return table.second.contains(input.first);
             });
    });
  }

 private:
  [[nodiscard]] uint32_t InputOf(uint32_t block) const {
    return step_.blocks[block].category == Category::kInput ? block : of_[block];
  }

  void LookUp(const Operand& table, const Operand& index) {
    if (table.block == model::kNone || index.block == model::kNone || step_.Rank(index.shape) != 2) return;
    const uint32_t input = InputOf(index.block);
    if (input == model::kNone) return;
    const std::span<const int64_t> sizes = SizesOf(step_, table);
    tables_[{sizes.begin(), sizes.end()}].insert(input);
    if (input != index.block) moved_.insert(input);
  }

  // ids.masked_fill(...), F.pad(ids, (1, 0)): so many tokens, or one more or less.
  [[nodiscard]] bool AreAsMany(const Operand& from, const Operand& into) const {
    if (step_.Rank(from.shape) != 2 || step_.Rank(into.shape) != 2) return false;
    const std::span<const int64_t> given = SizesOf(step_, from), made = SizesOf(step_, into);
    return given[0] == made[0] && std::abs(given[1] - made[1]) <= kMoved;
  }

  void Copy(const Operand& from, const Operand& into) {
    if (from.block == model::kNone || into.block == model::kNone || from.block == into.block) return;
    if (from.dtype != into.dtype || step_.Rank(from.shape) != 2 || of_[into.block] != model::kNone) return;
    of_[into.block] = InputOf(from.block);
  }

  const Step& step_;
  std::vector<uint32_t> of_;                                   // by block: the input that it is a copy of
  std::map<std::vector<int64_t>, std::set<uint32_t>> tables_;  // by the sizes of a table
  std::set<uint32_t> moved_;
};

struct Votes {
  bool looked_up = false;
  uint32_t inputs = 0;
  bool integers = false;
  auto operator<=>(const Votes&) const = default;
};

Error AsManySamples(int64_t tokens) {
  return Error{"the recorded batch has as many samples as a sample has tokens, " + std::to_string(tokens) +
               ": record with another batch, so that they can be told apart."};
}

}  // namespace

Result<Tokens> FindTokens(const Step& step) {
  std::vector<const Operand*> inputs = Inputs(step);
  const auto values = std::stable_partition(inputs.begin(), inputs.end(),
                                            [&](const Operand* input) { return !AreValues(step, *input); });
  const std::vector<const Operand*> of_each(values, inputs.end());
  inputs.erase(values, inputs.end());
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
    if (step.Dims(input->shape)[0] == tokens.length) return AsManySamples(tokens.length);
  }
  const WrittenIds written(step);
  for (const Operand* const input : inputs) {
    const int64_t length = step.Dims(input->shape)[1];
    if (IsFloat(input->dtype) || step.Rank(input->shape) != 2 || length <= 1 || length == tokens.length ||
        !written.AreBeside(input->block, tokens.inputs))
      continue;
    if (step.Dims(input->shape)[0] == length) return AsManySamples(length);
    tokens.targets.emplace_back(input->block, static_cast<uint64_t>(step.Dims(input->strides)[1]));
    tokens.target_lengths.insert(length);
  }
  for (const auto& [size, vote] : votes)
    if (size > 1 && !tokens.IsLength(size)) tokens.other_lengths.insert(size);
  for (const Operand& operand : step.operands) {
    const Op& op = step.ops[operand.op];
    if (operand.block == model::kNone || op.node != model::kNone || !IsLayer(step.NameOf(op)) ||
        step.blocks[operand.block].category != Category::kParameter)
      continue;
    for (uint32_t d = 0; d < step.Rank(operand.shape); ++d)
      tokens.sizes_of_model.insert(step.Dims(operand.shape)[d]);
  }
  for (const Operand* const input : of_each)
    if (step.Dims(input->shape)[1] == tokens.length && !tokens.sizes_of_model.contains(tokens.length))
      tokens.values.emplace_back(input->block, static_cast<uint64_t>(step.Dims(input->strides)[1]));
  return tokens;
}

}  // namespace vramscope::whatif
