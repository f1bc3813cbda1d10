// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "profiler/whatif/sizes/full_pieces.h"
#include "profiler/whatif/sizes/sequence.h"
#include "profiler/whatif/sizes/tokens.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Of a program that cuts its sequence into pieces.
class Pieces {
 public:
  Pieces(const Step& step, const BatchAxis& axis, int64_t length)
      : step_(step), axis_(axis), length_(length) {}

  std::string Why() {
    for (const Op& op : step_.ops) {
      if (op.node != kNone || op.input_count == 0 || op.output_count == 0) continue;
      const std::string_view name = step_.NameOf(op);
      const Operand &whole = InputsOf(step_, op)[0], &cut = OutputsOf(step_, op)[0];
      if (name == "aten::cat" && op.input_count == 1 && IsOnlyPiece(op)) return OnePiece();
      const Along from = AlongTokens(whole), to = AlongTokens(cut);
      if (name == "aten::constant_pad_nd" && to.count != 0) filled_up_.insert(to.count);
      if (from.count == 0 || to.count == 0 || cut.block != whole.block || to.count >= from.count) continue;
      const bool views = name == "aten::view" || name == "aten::reshape" || name == "aten::unflatten";
      if ((views && !IsStacked(op) && Viewed(cut, from, to)) ||
          (name == "aten::slice" && Sliced(whole, cut, from, to)))
        return Sentence(from.count, to.count);
    }
    for (const auto& [piece, beside] : FilledUp())
      if (length_ + beside > piece)
        return Filled(piece, beside);
      else if (length_ + beside == piece && FillsWhatLiesApart(piece))
        return JustFull(beside);
    if (length_ > axis_.batch && !OfFullPiece(step_, axis_).empty()) return Filled(axis_.batch, 0);
    return "";
  }

  // F.pad(x, (0, 0, 0, -tokens % 64)).view(batch, -1, 64, width), of so few tokens that it is a single piece:
  // by its length, how many of them are no part of the sequence.
  std::map<int64_t, int64_t> FilledUp() {
    std::map<int64_t, int64_t> filled, single;
    for (const Op& op : step_.ops) {
      if (op.node != kNone || op.input_count == 0 || op.output_count == 0) continue;
      const std::string_view name = step_.NameOf(op);
      const Operand &whole = InputsOf(step_, op)[0], &cut = OutputsOf(step_, op)[0];
      const Along from = AlongTokens(whole), to = AlongTokens(cut);
      if (name == "aten::constant_pad_nd" && to.count > from.count && HasAll(whole, from))
        filled.emplace(to.count, from.count - axis_.batch);
      const bool views = name == "aten::view" || name == "aten::reshape" || name == "aten::unflatten";
      if (views && cut.block == whole.block && to.count == from.count && filled.contains(to.count) &&
          step_.Rank(cut.shape) == step_.Rank(whole.shape) + 1 && to.dimension == from.dimension + 1 &&
          SizesOf(step_, cut)[from.dimension] == 1)
        single.insert(*filled.find(to.count));
    }
    return single;
  }

 private:
  // One behind the other, in one dimension.
  struct Along {
    uint32_t dimension = 0;
    int64_t count = 0;
  };
  [[nodiscard]] Along AlongTokens(const Operand& operand) const {
    for (uint32_t d = 0; operand.block != kNone && d < step_.Rank(operand.shape); ++d)
      if (ElementsOfSample(step_, axis_, operand, d) == 1) return {d, SizesOf(step_, operand)[d]};
    return {};
  }

  // The sequence, and what stands beside it.
  [[nodiscard]] bool HasAll(const Operand& operand, Along along) const {
    return along.count != 0 && along.count == axis_.batch + axis_.BesideIn(operand.block);
  }

  // x.transpose(1, 2): what is filled up lies one after the other, and what is full already stays as it is,
  // which products of matrices copy.
  [[nodiscard]] bool FillsWhatLiesApart(int64_t piece) const {
    return std::ranges::any_of(step_.ops, [&](const Op& op) {
      if (op.node != kNone || step_.NameOf(op) != "aten::constant_pad_nd") return false;
      if (op.input_count == 0 || op.output_count == 0) return false;
      const Operand &given = InputsOf(step_, op)[0], &filled = OutputsOf(step_, op)[0];
      return HasAll(given, AlongTokens(given)) && AlongTokens(filled).count == piece &&
             !LiesWithoutGaps(SizesOf(step_, given), StridesOf(step_, given));
    });
  }

  // [batch, tokens] as [batch, pieces, tokens of each].
  [[nodiscard]] bool Viewed(const Operand& cut, Along from, Along to) const {
    // What is several times as long and was not filled up to that are several sequences.
    if (from.count % to.count != 0 || (to.count == axis_.batch && !filled_up_.contains(from.count)))
      return false;
    const Result<BatchAxis>& batch = FollowBatch(step_);
    for (uint32_t d = 0; d < step_.Rank(cut.shape); ++d) {
      const bool samples = batch.ok() && ElementsOfSample(step_, *batch, cut, d) != 0;
      const uint64_t second = axis_.StrideIn(cut, axis_.second[cut.block]);
      if (!samples && ElementsWithin(step_, second, cut, d) == 0 &&
          SizesOf(step_, cut)[d] == from.count / to.count &&
          StridesOf(step_, cut)[d] == to.count * StridesOf(step_, cut)[to.dimension])
        return true;
    }
    return false;
  }

  // stack() of whole tensors joins them and views them as so many (stack in ATen/native/TensorShape.cpp).
  [[nodiscard]] bool IsStacked(const Op& op) const {
    return op.parent != kNone && step_.NameOf(step_.ops[op.parent]) == "aten::stack";
  }

  // x[:, i * length : (i + 1) * length], of which this is the second at least. What foresees the next token
  // has one less of them.
  [[nodiscard]] bool Sliced(const Operand& whole, const Operand& cut, Along from, Along to) {
    if (std::abs(from.count - axis_.batch) > kMoved || to.count < 2) return false;
    const uint64_t at = cut.offset - whole.offset;
    const auto [first, fresh] = slices_.try_emplace({whole.block, whole.offset, to.count}, at);
    const uint64_t piece =
        static_cast<uint64_t>(to.count) * static_cast<uint64_t>(StridesOf(step_, cut)[to.dimension]);
    return !fresh && piece != 0 && at > first->second && (at - first->second) % piece == 0;
  }

  // torch.cat([x[:, i : i + 128] for i in range(0, tokens, 128)], dim=1), of so few tokens that there is one
  // such i: of no more tokens there is one as well.
  [[nodiscard]] bool IsOnlyPiece(const Op& op) const {
    const Operand& piece = InputsOf(step_, op)[0];
    const Along along = AlongTokens(piece);
    if (length_ <= axis_.batch || along.count != axis_.batch || op.dims == 0) return false;
    return ReducedOf(step_.Text(op.dims), step_.Rank(piece.shape))[along.dimension];
  }

  [[nodiscard]] std::string OnePiece() const {
    return "the program puts pieces of its sequence together, of which " + std::to_string(axis_.batch) +
           " tokens are a single one, and one length does not tell into how many " + std::to_string(length_) +
           " tokens are cut: record it at that length.";
  }

  [[nodiscard]] std::string Filled(int64_t piece, int64_t beside) const {
    return "the program fills " + std::to_string(axis_.batch + beside) + " tokens up to a piece of " +
           std::to_string(piece) + ", and one length does not tell into how many " +
           std::to_string(length_ + beside) + " tokens are cut: record it at that length.";
  }

  [[nodiscard]] std::string JustFull(int64_t beside) const {
    return "the program fills " + std::to_string(axis_.batch + beside) + " tokens up to a piece, which " +
           std::to_string(length_ + beside) +
           " tokens are already: what is not filled up stays as it lies, and is copied elsewhere: record it "
           "at "
           "that length.";
  }

  static std::string Sentence(int64_t tokens, int64_t piece) {
    return "the program cuts " + std::to_string(tokens) + " tokens into pieces of " + std::to_string(piece) +
           ", and one length does not tell whether others are cut into more pieces or into longer ones: "
           "record it at that length.";
  }

  const Step& step_;
  const BatchAxis& axis_;
  const int64_t length_;
  std::set<int64_t> filled_up_;  // to so many tokens
  // By block, where it begins there, and tokens of a piece: where the first one begins.
  std::map<std::tuple<uint32_t, uint64_t, int64_t>, uint64_t> slices_;
};

}  // namespace

std::string WhyInPieces(const Step& step, const BatchAxis& axis, int64_t length) {
  return Pieces(step, axis, length).Why();
}

std::set<int64_t> FilledPieces(const Step& step, const BatchAxis& axis) {
  std::set<int64_t> pieces;
  for (const auto& [piece, beside] : Pieces(step, axis, axis.batch).FilledUp()) pieces.insert(piece);
  return pieces;
}

}  // namespace vramscope::whatif
