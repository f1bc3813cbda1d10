// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/sequence.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/sizes/full_pieces.h"
#include "profiler/whatif/sizes/token_loops.h"
#include "profiler/whatif/sizes/tokens.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// `count` of something, of which a sequence of `from` tokens has a whole number, or one of a few tokens more
// or less (labels that are moved by one, a convolution with room at the sides), with `to` tokens. `beside`:
// others that may stand in one dimension with them.
int64_t ScaledTokens(int64_t count, int64_t from, int64_t to, int64_t beside) {
  // x[:, -3:], which a convolution keeps of its sequence, are three of any length. Windows that lie apart are
  // fewer by a whole factor.
  constexpr int64_t kFew = 8;
  const int64_t all = from + beside;
  if (count > 1 && kFew * count < all && all % count != 0) return count;
  if (beside != 0 && count == beside) return count;
  if (beside != 0 && count % (from + beside) == 0) return count / (from + beside) * (to + beside);
  if (beside != 0 && std::abs(count - from - beside) <= kMoved) return to + count - from;
  for (const int64_t more : {0, -1, 1, -2, 2, 3, 4}) {
    if (more > kMoved && count < from) break;
    if (from + more > 0 && count % (from + more) == 0)
      return count / (from + more) * std::max<int64_t>(to + more, 1);
  }
  return count == 0 ? 0 : std::max<int64_t>(count * to / from, 1);
}

class Stretcher {
 public:
  Stretcher(const Step& step, const BatchAxis& axis, int64_t length)
      : step_(step),
        axis_(axis),
        to_(length),
        pieces_(FilledPieces(step, axis)),
        changed_(step),
        bytes_(step.blocks.size(), 0) {
    const Result<Tokens> tokens = FindTokens(step);
    if (!tokens.ok()) return;
    for (const int64_t target : tokens->target_lengths) targets_[target] = tokens->TargetAt(target, length);
  }

  Step Stretch() && {
    FindFilledMasks();
    for (size_t i = 0; i < step_.operands.size(); ++i) Reshape(step_.operands[i], changed_.operands[i]);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) Resize(i);
    for (const BatchReduction& one : axis_.reductions) Reduce(one);
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      const std::string_view name = step_.NameOf(step_.ops[i]);
      if (name == kEfficientForward) PadSums(step_.ops[i]);
      if (name == kEfficientBackward) PadWork(i);
    }
    return std::move(changed_);
  }

 private:
  // Before attention takes a mask it fills up the rows (pad_bias in
  // aten/src/ATen/native/transformers/attention.cpp).
  void FindFilledMasks() {
    for (const Op& op : step_.ops) {
      if (step_.NameOf(op) != "aten::constant_pad_nd" || op.parent == kNone || op.input_count == 0 ||
          op.output_count == 0)
        continue;
      uint32_t around = op.parent;
      while (step_.ops[around].parent != kNone) around = step_.ops[around].parent;
      const Operand &mask = InputsOf(step_, op)[0], &made = OutputsOf(step_, op)[0];
      const std::span<const int64_t> sizes = SizesOf(step_, mask), filled = SizesOf(step_, made);
      if (made.block == kNone || mask.block == kNone || sizes.empty() || sizes.size() != filled.size() ||
          step_.NameOf(step_.ops[around]) != "aten::scaled_dot_product_attention" ||
          filled.back() != FilledUp(sizes.back()))
        continue;
      masks_[made.block] = {sizes.back(), &mask};
    }
  }

  // In elements of the operand, the larger first: a dimension that holds both has whole runs of the other
  // then.
  [[nodiscard]] std::array<uint64_t, 2> Of(const Operand& operand) const {
    const uint64_t one = axis_.StrideIn(operand, axis_.stride[operand.block]);
    const uint64_t other = axis_.StrideIn(operand, axis_.second[operand.block]);
    return {std::max(one, other), std::min(one, other)};
  }

  [[nodiscard]] static int64_t FilledUp(int64_t columns) {
    return static_cast<int64_t>(UpTo(static_cast<uint64_t>(columns), kMaskUnit));
  }

  [[nodiscard]] int64_t Scaled(int64_t count, const Operand& operand) const {
    if (const auto mask = masks_.find(operand.block); mask != masks_.end()) {
      const auto& [columns, of] = mask->second;
      if (count == FilledUp(columns)) return FilledUp(Scaled(columns, *of));
    }
    const int64_t beside = axis_.BesideIn(operand.block);
    if (pieces_.contains(count)) return count;
    for (const auto& [target, wanted] : targets_)
      if (beside == 0 && std::abs(count - target) <= kMoved)
        return std::max<int64_t>(wanted + count - target, 1);
    return ScaledTokens(count, axis_.batch, to_, beside);
  }

  // Of those that the operand has in the dimension that holds the axis; 0: it has not got it.
  [[nodiscard]] int64_t TokensAlong(uint64_t axis, const Operand& operand) const {
    for (uint32_t d = 0; d < step_.Rank(operand.shape); ++d)
      if (const uint64_t inner = ElementsWithin(step_, axis, operand, d); inner != 0)
        return step_.Dims(operand.shape)[d] / static_cast<int64_t>(inner);
    return 0;
  }

  // What a distance within the block becomes: it grows with each direction of the sequence that it is beyond.
  [[nodiscard]] int64_t Distance(int64_t stride, const Operand& operand) const {
    double factor = 1;
    for (const uint64_t axis : Of(operand)) {
      const auto within = static_cast<int64_t>(axis);
      if (within == 0 || stride <= within || stride % within != 0) continue;
      // 256 channels of 34 tokens each are as many as 272 of 32. Where they lie with gaps, as the first 32 of
      // 35 that a convolution made, the smallest distance beyond tells how many lie there.
      const int64_t own = TokensAlong(axis, operand);
      int64_t pitch = 0;
      for (const int64_t one : StridesOf(step_, operand)) {
        if (one == own * within) pitch = one;
        if (one > within && one % within == 0 && pitch != own * within)
          pitch = pitch == 0 ? one : std::min(pitch, one);
      }
      const int64_t tokens = pitch != 0 && stride % pitch == 0 ? pitch / within : stride / within;
      factor *= static_cast<double>(Scaled(tokens, operand)) / static_cast<double>(tokens);
    }
    return static_cast<int64_t>(static_cast<double>(stride) * factor + 0.5);
  }

  // Where the operand begins: behind as many samples, and in its own behind the tokens that it leaves out.
  [[nodiscard]] uint64_t Offset(const Operand& operand) const {
    const int64_t bytes = BytesOf(operand.dtype), tokens = axis_.batch + axis_.BesideIn(operand.block);
    auto rest = static_cast<int64_t>(operand.offset);
    int64_t offset = 0;
    for (const uint64_t one : Of(operand)) {
      const auto within = static_cast<int64_t>(one), whole = within * tokens;
      if (within == 0 || rest == 0) continue;
      if (static_cast<int64_t>(step_.blocks[operand.block].requested) % (whole * bytes) != 0)
        return operand.offset;  // they have gaps
      offset += rest / whole * Distance(whole, operand);
      rest %= whole;
      const int64_t before = rest / within, own = TokensAlong(one, operand);
      const bool to_end = before + own == tokens;
      const int64_t left = to_end ? Scaled(tokens, operand) - Scaled(own, operand) : Scaled(before, operand);
      offset += (before == 0 ? 0 : left) * Distance(within, operand);
      rest %= within;
    }
    return static_cast<uint64_t>(offset + rest);
  }

  void Reshape(const Operand& operand, Operand& changed) {
    if (operand.block == kNone || axis_.stride[operand.block] == 0 || !step_.shapes[operand.strides].known)
      return;
    const uint32_t rank = step_.Rank(operand.shape);
    std::vector<int64_t> dims(rank), strides(rank);
    for (uint32_t d = 0; d < rank; ++d) {
      dims[d] = step_.Dims(operand.shape)[d];
      for (const uint64_t axis : Of(operand)) {
        const uint64_t inner = ElementsWithin(step_, axis, operand, d);
        if (inner != 0)
          dims[d] = Scaled(dims[d] / static_cast<int64_t>(inner), operand) * static_cast<int64_t>(inner);
      }
      strides[d] = Distance(step_.Dims(operand.strides)[d], operand);
    }
    const uint64_t bytes = BytesOf(operand.dtype);
    const auto spanned = [&](std::span<const int64_t> sizes, std::span<const int64_t> distances) {
      return static_cast<uint64_t>(ElementsSpanned(sizes, distances)) * bytes;
    };
    if (spanned(SizesOf(step_, operand), StridesOf(step_, operand)) == step_.blocks[operand.block].requested)
      bytes_[operand.block] = std::max(bytes_[operand.block], spanned(dims, strides));
    changed.shape = Place(dims);
    changed.strides = Place(strides);
    changed.offset = Offset(operand);
  }

  uint32_t Place(const std::vector<int64_t>& dims) {
    const auto [place, fresh] = shapes_.try_emplace(dims, static_cast<uint32_t>(changed_.shapes.size()));
    if (fresh) {
      changed_.shapes.push_back(
          {static_cast<uint32_t>(changed_.dims.size()), static_cast<uint32_t>(dims.size()), true});
      changed_.dims.insert(changed_.dims.end(), dims.begin(), dims.end());
    }
    return place->second;
  }

  void Resize(uint32_t i) {
    uint64_t& requested = changed_.blocks[i].requested;
    if (axis_.stride[i] == 0) return;
    if (bytes_[i] != 0) {
      requested = bytes_[i];
      return;
    }
    const int64_t beside = axis_.BesideIn(i);
    for (const uint64_t axis : {axis_.stride[i], axis_.second[i]}) {
      if (axis == 0) continue;
      requested =
          requested * static_cast<uint64_t>(to_ + beside) / static_cast<uint64_t>(axis_.batch + beside);
    }
  }

  // The sum of each row is padded to whole groups of them.
  void PadSums(const Op& op) {
    const std::optional<AttentionCall> was = EfficientCallOf(step_, op, 0),
                                       is = EfficientCallOf(changed_, op, 0);
    if (!was || !is) return;
    for (const Operand& result : OutputsOf(step_, op)) {
      if (result.argument == 1 && result.block != kNone &&
          step_.blocks[result.block].requested == EfficientSums(*was))
        changed_.blocks[result.block].requested = EfficientSums(*is);
    }
  }

  // So are the tiles that backward works in.
  void PadWork(uint32_t index) {
    const std::optional<AttentionCall> was = EfficientCallOf(step_, step_.ops[index], 1),
                                       is = EfficientCallOf(changed_, step_.ops[index], 1);
    if (!was || !is) return;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      uint32_t op = step_.blocks[i].op;
      while (op != kNone && op != index) op = step_.ops[op].parent;
      if (op == index && step_.blocks[i].requested == EfficientWorkspace(*was))
        changed_.blocks[i].requested = EfficientWorkspace(*is);
    }
  }

  // What it is of now: a dimension need not have a whole number of sequences.
  [[nodiscard]] Reduction Reshaped(const BatchReduction& one) const {
    Reduction reduction = one.reduction;
    const Operand& input = changed_.operands[changed_.ops[one.op].first_input];
    for (size_t d = 0; d < reduction.dimensions.size(); ++d) {
      reduction.dimensions[d].size = SizesOf(changed_, input)[d];
      reduction.dimensions[d].stride = StridesOf(changed_, input)[d];
    }
    return reduction;
  }

  void Reduce(const BatchReduction& one) {
    const auto [bytes, counters] = ScratchOf(Reshaped(one), axis_.device);
    if (one.block != kNone) {
      changed_.blocks[one.block].requested = bytes;
      if (bytes == 0 && one.counters != kNone) changed_.blocks[one.counters].requested = 0;
      return;
    }
    if (bytes == 0) return;
    AddScratchTo(one.op, bytes, 0.5, 0.25);
    AddScratchTo(one.op, counters, 0.4, 0.3);
  }

  // `begin` and `end`: before the end of its operator.
  void AddScratchTo(uint32_t index, uint64_t bytes, Position begin, Position end) {
    const Op& op = step_.ops[index];
    StepBlock block;
    block.id = kNone;
    block.requested = bytes;
    block.begin = op.end - begin;
    block.end = op.end - end;
    block.op = index;
    if (op.output_count > 0) block.copy_of = step_.operands[op.first_output].block;
    block.category =
        op.node == kNone ? classify::Category::kTemporaryForward : classify::Category::kTemporaryBackward;
    if (block.copy_of != kNone) changed_.blocks.push_back(block);
  }

  const Step& step_;
  const BatchAxis& axis_;
  const int64_t to_;
  std::map<int64_t, int64_t> targets_;  // other lengths, which grow by the same factor, and what they become
  std::set<int64_t> pieces_;            // what any length is filled up to
  // By block: columns of the mask that was filled up into it, and that mask.
  std::map<uint32_t, std::pair<int64_t, const Operand*>> masks_;
  Step changed_;
  std::vector<uint64_t> bytes_;  // by block: as the operands say that are the whole of it
  std::map<std::vector<int64_t>, uint32_t> shapes_;
};

}  // namespace

std::string WhyTooLong(const Step& step, const BatchAxis& axis, int64_t length) {
  const Result<BatchAxis>& batch = FollowBatch(step);
  const auto of_data = [&](uint32_t block) { return batch.ok() && batch->stride[block] != 0; };
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.input_count < 2) continue;
    const bool lookup = step.NameOf(op) == "aten::embedding";
    const Operand* const inputs = step.operands.data() + op.first_input;
    for (uint32_t i = 0; i < op.input_count; ++i) {
      const Operand& table = inputs[i];
      if (table.block == kNone || step.blocks[table.block].category != classify::Category::kParameter ||
          step.Rank(table.shape) < 2)
        continue;
      const uint32_t rank = step.Rank(table.shape), along = lookup ? 0 : rank - 2;
      const int64_t rows = step.Dims(table.shape)[along];
      if (step.shapes[table.strides].known && step.Dims(table.strides)[along] == 0)
        continue;  // a bias, expanded
      // Of fewer rows than tokens it is a table of something else: kinds of tokens.
      if (rows >= length || rows < axis.batch) continue;
      const Operand& other = inputs[i == 0 ? 1 : 0];
      if (other.block == kNone || step.Rank(other.shape) == 0) continue;
      const std::span<const int64_t> sizes = SizesOf(step, other);
      // Of each token against each other one it is a table of distances.
      const bool distances = sizes.size() > 1 && sizes[sizes.size() - 2] == axis.batch;
      const bool positions =
          lookup && !of_data(other.block) && !distances && sizes[sizes.size() - 1] == axis.batch;
      const bool added =
          step.NameOf(op) == "aten::add" && rows == axis.batch && axis.stride[other.block] != 0;
      if (positions || added)
        return "the table of positions " + std::string(step.blocks[table.block].name) + " has " +
               std::to_string(rows) + " rows: sequences of " + std::to_string(length) +
               " tokens need a longer one.";
    }
  }
  return "";
}

std::string WhyOtherMasks(const Step& step, int64_t recorded, int64_t length) {
  for (const SlidingWindow& window : step.sliding_windows) {
    const bool has_now = recorded >= window.tokens, has_then = length >= window.tokens;
    if (has_now == has_then) continue;
    const std::string from = std::to_string(window.tokens), before = std::to_string(window.tokens - 1);
    return "attention looks back " + from + " tokens at most (" + window.name +
           "), and the program makes masks from so many tokens on: the recorded step, of " +
           std::to_string(recorded) +
           (has_now ? ", has them, one of " + std::to_string(length) + " has none: record with " + before +
                          " or fewer."
                    : ", has none: record with " + from + " or more.");
  }
  return "";
}

std::string WhyUnknownTables(const Step& step, const BatchAxis& axis) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  if (axis.batch > kLongest) return "";
  const std::set<int64_t> doubtful = {2 * axis.batch - 1, 2 * axis.batch, 2 * axis.batch + 1, 4 * axis.batch};
  std::vector<int64_t> made(step.blocks.size(), 0);  // by block: numbers that it is computed from
  std::set<int64_t> found, cut;                      // of one length all are made alike
  for (const uint32_t index : step.op_ends) {
    const Op& op = step.ops[index];
    if (op.node != kNone) continue;
    const std::string_view name = step.NameOf(op);
    for (const Operand& result : OutputsOf(step, op)) {
      if (result.block == kNone || axis.stride[result.block] != 0) continue;
      const std::span<const int64_t> sizes = SizesOf(step, result);
      const auto has = [&](int64_t size) {
        return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
      };
      if (name == "aten::arange" && sizes.size() == 1 && doubtful.contains(sizes[0]))
        found.insert(made[result.block] = sizes[0]);
      for (const Operand& input : InputsOf(step, op)) {
        const int64_t numbers = input.block == kNone ? 0 : made[input.block];
        if (numbers == 0) continue;
        if (name == "aten::slice" && has(axis.batch)) cut.insert(numbers);
        if (has(numbers)) made[result.block] = numbers;
      }
    }
  }
  for (const int64_t numbers : found)
    if (!cut.contains(numbers))
      return "the program numbers " + std::to_string(numbers) + " positions for " +
             std::to_string(axis.batch) +
             " tokens, and one length does not tell whether they are more for another: record it at that "
             "length.";
  return "";
}

Step AtLength(const Step& step, const BatchAxis& axis, int64_t length) {
  BatchAxis growing = axis;
  const std::vector<bool> full = length < axis.batch ? OfFullPiece(step, axis) : std::vector<bool>();
  for (size_t i = 0; i < full.size(); ++i)
    if (full[i]) growing.stride[i] = growing.second[i] = 0;
  Step changed = Stretcher(step, growing, length).Stretch();
  for (const TokenLoop& loop : FindTokenLoops(step, axis))
    SetRounds(
        loop,
        ScaledTokens(static_cast<int64_t>(loop.rounds.size()), axis.batch, length, axis.BesideIn(loop.block)),
        changed);
  return changed;
}

}  // namespace vramscope::whatif
