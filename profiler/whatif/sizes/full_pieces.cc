// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/full_pieces.h"

#include <algorithm>

#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Of what is as long: nothing but its size is known, as of a mask that is made from nothing; the tokens; a
// piece.
enum class Length : uint8_t { kUnknown, kTokens, kPiece };

class FullPieces {
 public:
  FullPieces(const Step& step, const BatchAxis& axis)
      : step_(step), axis_(axis), of_(step.blocks.size(), Length::kUnknown) {}

  std::vector<bool> Find() {
    if (!FillsUp()) return {};
    const Result<BatchAxis>& batch = FollowBatch(step_);
    if (!batch.ok()) return {};
    batch_ = &batch.value();
    for (const uint32_t index : step_.op_ends)
      if (step_.ops[index].node == kNone) Follow(step_.ops[index]);
    for (size_t i = step_.op_ends.size(); i-- > 0;)
      if (step_.ops[step_.op_ends[i]].node == kNone) FollowBack(step_.ops[step_.op_ends[i]]);
    for (const Op& op : step_.ops)
      if (op.node != kNone && step_.nodes[op.node].op != kNone && IsOfPiece(step_.nodes[op.node].op))
        for (const Operand& result : OutputsOf(step_, op))
          if (IsMade(op, result)) of_[result.block] = Length::kPiece;
    std::vector<bool> found(of_.size());
    for (size_t i = 0; i < found.size(); ++i) found[i] = of_[i] == Length::kPiece;
    return found;
  }

 private:
  [[nodiscard]] bool IsLong(const Operand& operand) const {
    return operand.block != kNone && axis_.stride[operand.block] != 0;
  }
  [[nodiscard]] bool IsMade(const Op& op, const Operand& result) const {
    return IsLong(result) && step_.blocks[result.block].begin >= op.begin;
  }

  // The dimension of the tokens, where all of them are one behind the other; else the rank.
  [[nodiscard]] uint32_t Along(const Operand& operand) const {
    const uint32_t rank = operand.block == kNone ? 0 : step_.Rank(operand.shape);
    for (uint32_t d = 0; d < rank; ++d)
      if (ElementsOfSample(step_, axis_, operand, d) == 1 && SizesOf(step_, operand)[d] == axis_.batch)
        return d;
    return rank;
  }

  // F.pad() that adds nothing to the tokens.
  [[nodiscard]] bool Pads(const Op& op) const {
    if (step_.NameOf(op) != "aten::constant_pad_nd" || op.input_count == 0 || op.output_count == 0)
      return false;
    const Operand &given = InputsOf(step_, op)[0], &filled = OutputsOf(step_, op)[0];
    return IsLong(given) && IsMade(op, filled) && Along(given) < step_.Rank(given.shape) &&
           std::ranges::equal(SizesOf(step_, given), SizesOf(step_, filled));
  }

  // And a view of what that returned, [batch, tokens] as [batch, 1, tokens].
  [[nodiscard]] bool FillsUp() const {
    std::vector<bool> padded(step_.blocks.size(), false);
    for (const Op& op : step_.ops) {
      if (op.node != kNone || op.input_count == 0 || op.output_count == 0) continue;
      const Operand &given = InputsOf(step_, op)[0], &result = OutputsOf(step_, op)[0];
      if (Pads(op)) padded[result.block] = true;
      if (result.block == kNone || result.block != given.block || !padded[result.block]) continue;
      const uint32_t from = Along(given), to = Along(result), rank = step_.Rank(given.shape);
      if (from < rank && step_.Rank(result.shape) == rank + 1 && to == from + 1 &&
          SizesOf(step_, result)[from] == 1)
        return true;
    }
    return false;
  }

  // Where the piece meets tokens, the program has cut off what was filled up.
  void Follow(const Op& op) {
    for (uint32_t around = op.parent; around != kNone; around = step_.ops[around].parent)
      if (Pads(step_.ops[around])) return;
    const auto given = InputsOf(step_, op);
    const auto any = [&](Length wanted) {
      return std::ranges::any_of(given,
                                 [&](const Operand& one) { return IsLong(one) && of_[one.block] == wanted; });
    };
    const Length length = Pads(op)               ? Length::kPiece
                          : any(Length::kTokens) ? Length::kTokens
                          : any(Length::kPiece)  ? Length::kPiece
                                                 : Length::kUnknown;
    for (const Operand& result : OutputsOf(step_, op)) {
      if (!IsMade(op, result) || of_[result.block] != Length::kUnknown) continue;
      // Of memory that an operator takes for its result it says itself.
      const bool of_samples = op.parent == kNone && batch_->stride[result.block] != 0;
      of_[result.block] = length == Length::kUnknown && of_samples ? Length::kTokens : length;
    }
  }

  // A mask for what is computed of the piece is as long.
  void FollowBack(const Op& op) {
    const auto results = OutputsOf(step_, op);
    if (std::ranges::none_of(
            results, [&](const Operand& one) { return IsMade(op, one) && of_[one.block] == Length::kPiece; }))
      return;
    for (const Operand& one : InputsOf(step_, op))
      if (IsLong(one) && of_[one.block] == Length::kUnknown) of_[one.block] = Length::kPiece;
  }

  // Whether all that the operator of forward works on and returns is.
  [[nodiscard]] bool IsOfPiece(uint32_t op) const {
    bool any = false;
    for (const std::span<const Operand> all : {ResultsOf(step_, op), InputsOf(step_, step_.ops[op])})
      for (const Operand& one : all) {
        if (IsLong(one) && of_[one.block] != Length::kPiece) return false;
        any |= IsLong(one);
      }
    return any;
  }

  const Step& step_;
  const BatchAxis& axis_;
  const BatchAxis* batch_ = nullptr;
  std::vector<Length> of_;  // by block that the sequence is in
};

}  // namespace

std::vector<bool> OfFullPiece(const Step& step, const BatchAxis& axis) {
  return FullPieces(step, axis).Find();
}

}  // namespace vramscope::whatif
