// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/asked_axis.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "profiler/whatif/sizes/batch_kinds.h"
#include "profiler/whatif/sizes/chunked.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class Asking {
 public:
  Asking(const Step& step, const BatchAxis& axis, bool sequence)
      : step_(step), axis_(axis), sequence_(sequence), cut_(step.blocks.size()) {
    for (const Op& op : step.ops)
      if (op.node == kNone && op.input_count != 0 && op.output_count != 0 && step.NameOf(op) == "aten::slice")
        for (const int64_t distance : DistancesCut(step, InputsOf(step, op)[0], OutputsOf(step, op)[0]))
          cut_[InputsOf(step, op)[0].block].insert(distance);  // freqs[:, -tokens:] of as many cuts nothing
  }

  void Ask(const Op& op) {
    const Operand& result = OutputsOf(step_, op)[0];
    if (!IsTold(result)) return;
    if (step_.NameOf(op) == "aten::gather") return AskGathered(op, result);
    if (ShapedLike(step_, op) != nullptr) return;
    const Kind kind = KindNamed(step_.NameOf(op));
    const bool joins = step_.NameOf(op) == "aten::cat";
    if (kind == Kind::kMatrix) return AskFactors(op, result);
    if (kind == Kind::kReduction) return AskSummed(op, result);
    if (step_.NameOf(op) == "aten::embedding") return AskIndex(op, result);
    if (step_.NameOf(op) == "aten::index") return AskIndices(op, result);
    if (!joins && (kind != Kind::kElementwise || !AreBroadcast(step_, op, result))) return;
    for (const Operand& operand : InputsOf(step_, op)) {
      const uint32_t rank = step_.Rank(result.shape), missing = rank - step_.Rank(operand.shape);
      if (joins && missing != 0) continue;
      for (uint32_t d = missing; d < rank; ++d) AskThere(result, d, operand, d - missing);
    }
  }

  [[nodiscard]] std::vector<AskedAxis> All() const {
    std::vector<AskedAxis> all;
    for (const auto& [block, asked] : asked_) all.push_back(asked);
    return all;
  }

 private:
  [[nodiscard]] bool IsTold(const Operand& operand) const {
    return operand.block != kNone && step_.shapes[operand.strides].known &&
           axis_.stride[operand.block] != 0 && (sequence_ || !axis_.IsSized(operand.block));
  }

  // How many elements of one token are in the dimension; 0: the tokens are not there.
  [[nodiscard]] uint64_t Within(const Operand& operand, uint32_t d) const {
    for (const uint64_t place : {axis_.stride[operand.block], axis_.second[operand.block]}) {
      const uint64_t inner = ElementsWithin(step_, axis_.StrideIn(operand, place), operand, d);
      if (inner != 0) return inner;
    }
    return 0;
  }

  // table[index], whose first dimensions are those of the index.
  void AskIndex(const Op& op, const Operand& result) {
    if (op.input_count < 2) return;
    const Operand& index = InputsOf(step_, op)[1];
    for (uint32_t d = 0; d < step_.Rank(index.shape) && d < step_.Rank(result.shape); ++d)
      AskThere(result, d, index, d);
  }

  // x[rows, columns], whose first dimensions are those of the indices, before those of x that have none.
  void AskIndices(const Op& op, const Operand& result) {
    const std::span<const Operand> indices = InputsOf(step_, op).subspan(1);
    if (indices.empty()) return;
    const std::span<const int64_t> from = SizesOf(step_, InputsOf(step_, op)[0]);
    const std::span<const int64_t> made = SizesOf(step_, result), index = SizesOf(step_, indices[0]);
    const bool first = indices.size() <= from.size() && index.size() <= made.size() &&
                       std::ranges::equal(made.subspan(index.size()), from.subspan(indices.size()));
    if (!first) return;
    for (const Operand& operand : indices)
      for (uint32_t d = 0; step_.Rank(operand.shape) == index.size() && d < index.size(); ++d)
        AskThere(result, d, operand, d);
  }

  // gather(x, dim, index), whose result is as large as the index: x has no fewer elements in the other
  // dimensions (gather_shape_check, aten/src/ATen/native/ScatterGatherChecks.h), so one of as many grows with
  // the samples. With fewer tokens it may have more than they: as many as the longest sequence has.
  void AskGathered(const Op& op, const Operand& result) {
    if (sequence_ || op.dims == 0 || op.input_count == 0) return;
    const Operand& from = InputsOf(step_, op)[0];
    const uint32_t rank = step_.Rank(from.shape);
    if (rank != step_.Rank(result.shape)) return;
    const std::vector<bool> along = ReducedOf(step_.Text(op.dims), rank);
    for (uint32_t d = 0; d < rank; ++d)
      if (!along[d]) AskThere(result, d, from, d);
  }

  // x.sum(1), which keeps the other dimensions.
  void AskSummed(const Op& op, const Operand& result) {
    if (op.input_count == 0) return;
    const Operand& summed = InputsOf(step_, op)[0];
    const uint32_t rank = step_.Rank(summed.shape);
    const std::vector<bool> gone = ReducedOf(step_.Text(op.dims), rank);
    const bool kept = step_.Rank(result.shape) == rank;  // as dimensions of one
    for (uint32_t d = 0, there = 0; d < rank && there < step_.Rank(result.shape); ++d) {
      if (!gone[d]) AskThere(result, there, summed, d);
      if (!gone[d] || kept) ++there;
    }
  }

  // [rows, inner] x [inner, columns]: rows are those of the result, as columns are.
  void AskFactors(const Op& op, const Operand& result) {
    const std::span<const Operand> given = InputsOf(step_, op);
    const uint32_t rank = step_.Rank(result.shape);
    if (given.size() < 2 || rank < 2) return;
    const Operand &left = given[given.size() - 2], &right = given.back();
    if (step_.Rank(left.shape) != rank || step_.Rank(right.shape) != rank) return;
    AskThere(result, rank - 2, left, rank - 2);
    AskThere(result, rank - 1, right, rank - 1);
  }

  void AskThere(const Operand& told, uint32_t there, const Operand& operand, uint32_t d) {
    const uint64_t inner = Within(told, there);
    if (inner == 0 || operand.block == kNone || !step_.shapes[operand.strides].known) return;
    const StepBlock& block = step_.blocks[operand.block];
    const int64_t size = SizesOf(step_, operand)[d], stride = StridesOf(step_, operand)[d];
    if (block.begin == kBefore || block.accumulated < kForever || size <= 1 || stride == 0 ||
        cut_[operand.block].contains(stride) || size != SizesOf(step_, told)[there] ||
        Within(operand, d) != 0)
      return;
    if (!sequence_ && size != axis_.batch * static_cast<int64_t>(inner)) return;  // as large by chance
    const PlacesOfAxis known = {axis_.stride[operand.block], axis_.second[operand.block]};
    if (known[0] != 0 &&
        (!sequence_ || known[1] != 0 || axis_.element[operand.block] != BytesOf(operand.dtype)))
      return;
    AskedAxis& asked = asked_[operand.block];
    if (asked.block == kNone) {
      asked.places = known;
      asked.block = operand.block, asked.element = static_cast<uint8_t>(BytesOf(operand.dtype));
      asked.beside = axis_.BesideIn(told.block);
    }
    if (asked.element == BytesOf(operand.dtype))
      AddPlace(asked.places, static_cast<uint64_t>(stride) * inner);
  }

  const Step& step_;
  const BatchAxis& axis_;
  const bool sequence_;
  // By block: distances in it of dimensions that were cut, which may be those of a table that is longer than
  // the sequence.
  std::vector<std::set<int64_t>> cut_;
  std::map<uint32_t, AskedAxis> asked_;
};

}  // namespace

std::vector<AskedAxis> AskedOfOperands(const Step& step, const BatchAxis& axis, bool sequence) {
  Asking asking(step, axis, sequence);
  for (const Op& op : step.ops)
    if (op.node == kNone && op.output_count != 0 && op.begin < step.ForwardEnd()) asking.Ask(op);
  return asking.All();
}

Result<BatchAxis> FollowAsked(const Step& step, bool sequence,
                              const std::function<Result<BatchAxis>(std::span<const AskedAxis>)>& follow) {
  constexpr int kMostTurns = 8;
  std::vector<AskedAxis> asked;
  Result<BatchAxis> axis = follow(asked);
  for (int turn = 0; turn < kMostTurns && axis.ok(); ++turn) {
    const std::vector<AskedAxis> more = AskedOfOperands(step, *axis, sequence);
    if (more.empty()) break;
    asked.insert(asked.end(), more.begin(), more.end());
    axis = follow(asked);
  }
  return axis;
}

}  // namespace vramscope::whatif
