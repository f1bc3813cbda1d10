// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/fixed_pieces.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "profiler/whatif/sizes/carried_axis.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Two slices may be a share of the samples, and the rest.
constexpr size_t kLeastSlices = 3;

// Rows of a piece where `pieces` are all rows of `whole`, one piece behind the other, each of as many rows
// but for the last, which may have fewer; and where they are not what a share of the batch is: whole samples,
// in pieces that are all alike. Else 0.
int64_t RowsOfPieces(const Step& step, const BatchAxis& axis, const Operand& whole,
                     std::span<const Operand> pieces) {
  if (whole.block == kNone || pieces.size() < 2 || !step.shapes[whole.strides].known) return 0;
  const auto place = PlaceIn(step, axis, whole, axis.stride[whole.block]);
  if (!place) return 0;
  const std::span<const int64_t> sizes = SizesOf(step, whole);
  const uint32_t d = place->dimension;
  const auto of_sample = static_cast<int64_t>(place->inner);
  if (sizes[d] != axis.batch * of_sample) return 0;
  const int64_t rows = step.Rank(pieces[0].shape) == sizes.size() ? SizesOf(step, pieces[0])[d] : 0;
  int64_t seen = 0;
  for (const Operand& piece : pieces) {
    const std::span<const int64_t> own = SizesOf(step, piece);
    const uint64_t before = static_cast<uint64_t>(seen * StridesOf(step, whole)[d]);
    if (own.size() != sizes.size() || own[d] != std::min(rows, sizes[d] - seen) || own[d] == 0 ||
        piece.offset != whole.offset + before)
      return 0;
    seen += own[d];
  }
  const bool all = seen == sizes[d];
  return all && (rows % of_sample != 0 || sizes[d] % rows != 0) ? rows : 0;
}

constexpr int64_t kNoPiece = -1, kOfSeveral = -2;

class PieceFinder {
 public:
  PieceFinder(const Step& step, const BatchAxis& axis) : step_(step), axis_(axis) {}

  FixedPieces Find() {
    using View = std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>;
    std::map<View, std::vector<Operand>> slices;
    for (const Op& op : step_.ops) {
      if (op.node != kNone || op.input_count == 0 || op.output_count == 0) continue;
      const Operand& whole = InputsOf(step_, op)[0];
      if (whole.block == kNone || axis_.stride[whole.block] == 0) continue;
      // chunk() is told how many pieces there are to be.
      const bool told = op.parent == kNone || step_.NameOf(step_.ops[op.parent]) != "aten::chunk";
      if (step_.NameOf(op) == "aten::split" && told) Add(whole, OutputsOf(step_, op));
      if (step_.NameOf(op) == "aten::slice")
        slices[{whole.block, whole.shape, whole.strides, whole.offset}].push_back(OutputsOf(step_, op)[0]);
    }
    for (const auto& [view, pieces] : slices) {
      if (pieces.size() < kLeastSlices) continue;
      Operand whole = pieces[0];
      std::tie(whole.block, whole.shape, whole.strides, whole.offset) = view;
      Add(whole, pieces);
    }
    if (found_.rows != 0) FollowPieces();
    return std::move(found_);
  }

 private:
  void Add(const Operand& whole, std::span<const Operand> pieces) {
    const int64_t rows = RowsOfPieces(step_, axis_, whole, pieces);
    if (rows == 0) return;
    if (rows > found_.rows) {
      found_.rows = rows;
      found_.of_sample = static_cast<int64_t>(PlaceIn(step_, axis_, whole, axis_.stride[whole.block])->inner);
    }
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  }

  void FollowPieces() {
    of_.assign(step_.blocks.size(), kNoPiece);
    for (const uint32_t end : step_.op_ends) {
      const Op& op = step_.ops[end];
      if (op.node != kNone) continue;
      int64_t given = kNoPiece;
      for (const Operand& input : InputsOf(step_, op)) given = Together(given, PieceIn(input));
      for (const Operand& result : OutputsOf(step_, op))
        if (result.block != kNone && step_.blocks[result.block].begin > kBefore && !IsCut(result.block))
          of_[result.block] = Together(of_[result.block], given);
    }
    found_.of_one.resize(of_.size());
    for (size_t i = 0; i < of_.size(); ++i) found_.of_one[i] = of_[i] >= 0;
  }

  static int64_t Together(int64_t one, int64_t other) {
    if (one == kNoPiece || one == other) return other;
    return other == kNoPiece ? one : kOfSeveral;
  }

  [[nodiscard]] bool IsCut(uint32_t block) const {
    return std::ranges::any_of(pieces_, [&](const Operand& piece) { return piece.block == block; });
  }

  [[nodiscard]] int64_t PieceIn(const Operand& operand) const {
    if (operand.block == kNone) return kNoPiece;
    if (!IsCut(operand.block)) return of_[operand.block];
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i].block == operand.block && pieces_[i].offset <= operand.offset &&
          BytesUpTo(step_, operand) <= BytesUpTo(step_, pieces_[i]))
        return static_cast<int64_t>(i);
    return kOfSeveral;
  }

  const Step& step_;
  const BatchAxis& axis_;
  FixedPieces found_;
  std::vector<Operand> pieces_;
  std::vector<int64_t> of_;  // by block: of which one, a place in pieces_
};

}  // namespace

bool FixedPieces::AreKept(const Step& step) const {
  return std::ranges::any_of(step.saved, [&](const Saved& saved) {
    return Has(saved.block) && step.blocks[saved.block].requested != 0;
  });
}

uint64_t FixedPieces::BytesOf(uint64_t recorded, int64_t samples) const {
  const int64_t there = std::min(rows, of_sample * samples);
  return there == rows ? recorded : recorded * static_cast<uint64_t>(there) / static_cast<uint64_t>(rows);
}

const FixedPieces& FixedPiecesOf(const Step& step) {
  return step.fixed_pieces.Get([&] {
    const Result<BatchAxis>& axis = FollowBatch(step);
    return axis.ok() ? PieceFinder(step, *axis).Find() : FixedPieces{};
  });
}

}  // namespace vramscope::whatif
