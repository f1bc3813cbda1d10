// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/batch_axis.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "profiler/whatif/sizes/asked_axis.h"
#include "profiler/whatif/sizes/batch_kinds.h"
#include "profiler/whatif/sizes/carried_axis.h"
#include "profiler/whatif/sizes/chunked.h"
#include "profiler/whatif/sizes/joined_tokens.h"
#include "profiler/whatif/sizes/sample_parts.h"
#include "profiler/whatif/sizes/sample_rows.h"
#include "profiler/whatif/sizes/samples.h"
#include "profiler/whatif/sizes/single_sample.h"
#include "profiler/whatif/sizes/tokens.h"
#include "profiler/whatif/step/number_tables.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using Strides = PlacesOfAxis;

class Follower {
 public:
  // `tokens`: those of a sample are followed; nullptr: the samples.
  Follower(const Step& step, const Tokens* tokens, bool by_size, const BatchAxis* others,
           std::span<const AskedAxis> asked = {})
      : step_(step),
        tokens_(tokens),
        asked_(asked),
        sequence_(tokens != nullptr),
        by_size_(by_size),
        others_(others),
        decided_(step.blocks.size()),
        seen_(step.blocks.size()),
        sized_(step.blocks.size()),
        tables_(step),
        chunked_(sequence_ ? FindChunked(step) : decltype(chunked_){}),
        uncut_(sequence_ ? FindUncut(step, tokens->Lengths()) : decltype(uncut_){}),
        joined_(step, axis_, others, tokens),
        parts_(step, axis_, tables_, tokens != nullptr),
        rows_(step, axis_) {
    axis_.beside.resize(step.blocks.size(), 0);
    axis_.stride.resize(step.blocks.size(), 0);
    axis_.second.resize(step.blocks.size(), 0);
    axis_.element.resize(step.blocks.size(), 0);
  }

  Result<BatchAxis> Follow() && {
    if (sequence_) {
      axis_.batch = tokens_->length;
      for (const auto& [block, stride] : tokens_->inputs) axis_.stride[block] = stride;
    } else {
      const Samples samples = FindSamples(step_);
      axis_.batch = samples.count;
      for (const auto& [block, stride] : samples.inputs) axis_.stride[block] = stride;
      if (samples.count == 0)
        return Error{
            "which tensors are the batch was not seen: read batches through a DataLoader, or make them "
            "inside the loop."};
    }
    for (const AskedAxis& one : asked_) Ask(one);
    if (axis_.batch <= 1 && !sequence_)
      return Error{
          "the recorded batch has one sample, so no dimension of a tensor shows which one is the batch: "
          "record with 2 or more."};
    for (uint32_t i = 0; i < step_.blocks.size(); ++i)
      decided_[i] = axis_.stride[i] != 0 || step_.blocks[i].begin == kBefore;
    for (const Operand& operand : step_.operands) {
      if (operand.block != kNone && KindOf(step_.ops[operand.op]) != Kind::kFactory)
        seen_[operand.block] = true;
    }
    for (const uint32_t op : step_.op_ends) Pass(step_.ops[op]);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) Settle(i);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) PassCopy(i);
    if (const std::string why = joined_.WhyNotTold(); !why.empty()) return Error{why};
    if (!sequence_) axis_.sample = parts_.Settle(), axis_.uneven = parts_.uneven();
    axis_.sized = sized_;
    FindReductions(step_, axis_);
    return std::move(axis_);
  }

 private:
  [[nodiscard]] Kind KindOf(const Op& op) {
    const auto [place, fresh] = kinds_.try_emplace(op.name, Kind::kElementwise);
    if (fresh) place->second = KindNamed(step_.NameOf(op));
    return place->second;
  }

  [[nodiscard]] Strides Of(uint32_t block) const {
    if (block == kNone) return {};
    return {axis_.stride[block], axis_.second[block]};
  }
  void Ask(const AskedAxis& asked) {
    Set(asked.block, asked.places);
    axis_.element[asked.block] = asked.element;
    axis_.beside[asked.block] = asked.beside;
  }
  void Set(uint32_t block, Strides strides) {
    if (others_ != nullptr) strides = Without(strides, {others_->stride[block], others_->second[block]});
    axis_.stride[block] = strides[0];
    axis_.second[block] = strides[1];
  }
  void SetOf(const Operand& result, Strides strides) {
    Set(result.block, strides);
    axis_.element[result.block] = static_cast<uint8_t>(BytesOf(result.dtype));
  }

  // The first tokens of what the model keeps, a table of positions or a mask, or of a table that it makes for
  // its longest sequence from nothing but numbers: a view with as many as there are. What is seen as a whole
  // has that size for another reason, as the frequencies of rotary embeddings.
  [[nodiscard]] bool IsCutToLength(const Operand& operand, uint32_t d) const {
    if (!sequence_ || !by_size_ || operand.block == kNone || !tokens_->IsLength(step_.Dims(operand.shape)[d]))
      return false;
    const StepBlock& block = step_.blocks[operand.block];
    const bool kept = block.begin == kBefore && block.category == classify::Category::kBuffer;
    const bool numbers = axis_.stride[operand.block] == 0 && tables_.Has(operand);
    const std::pair dimension(operand.block, step_.Dims(operand.strides)[d]);
    return (kept || numbers) && (operand.offset != 0 || BytesUpTo(step_, operand) != block.requested) &&
           !chunked_.contains(dimension) && !uncut_.contains(dimension);
  }

  // It was not sizes alone that told where the axis is in what the operator works on.
  [[nodiscard]] bool FromOther(const Op& op) const {
    const std::span<const Operand> inputs = InputsOf(step_, op);
    return std::any_of(inputs.begin(), inputs.end(), [&](const Operand& operand) {
      return operand.block != kNone && axis_.stride[operand.block] != 0 && !sized_[operand.block];
    });
  }

  [[nodiscard]] bool Reached(const Op& op) const {
    return std::ranges::any_of(InputsOf(step_, op), [&](const Operand& operand) {
      return operand.block != kNone && axis_.stride[operand.block] != 0;
    });
  }

  void PassStates(const Op& op) {
    if (sequence_ || !Reached(op)) return;
    for (const Operand* state : RecurrentStates(step_, axis_, op)) {
      SetOf(*state, {static_cast<uint64_t>(step_.Dims(state->strides)[1]), 0});
      decided_[state->block] = true;
    }
  }

  void Pass(const Op& op) {
    const Kind kind = KindOf(op);
    if (kind == Kind::kRecurrent) PassStates(op);
    if (kind == Kind::kMatrix && sequence_ && MultipliesFeatures(step_, axis_, op)) {
      const auto [left, right] = std::pair(InputsOf(step_, op)[0].block, InputsOf(step_, op)[1].block);
      if (sized_[right] && !sized_[left]) Set(right, {}), sized_[right] = false;  // as large by chance
    }
    if (kind == Kind::kMatrix && !sequence_)
      if (const uint32_t made = SizedByChance(step_, axis_, op, sized_); made != kNone)
        Set(made, {}), sized_[made] = false;
    if (sequence_) joined_.NoteGiven(op);
    if (!sequence_) rows_.Note(op);
    if (const MaskOfRows mask = FindMaskOfRows(step_, axis_, op); !sequence_ && mask.operand != nullptr)
      SetOf(*mask.operand, mask.places);
    if (const uint64_t place = sequence_ ? 0 : PlaceInResized(step_, axis_, op); place != 0)
      SetOf(OutputsOf(step_, op)[0], {place, 0});
    for (const Operand& index : InputsOf(step_, op)) {
      if (sequence_ || index.argument != 1 || step_.NameOf(op) != "aten::embedding") continue;
      const auto place =
          index.block == kNone ? std::nullopt : PlaceIn(step_, axis_, index, axis_.stride[index.block]);
      time_first_ |= place && place->dimension == 1 && place->inner == 1 && step_.Dims(index.shape)[0] > 1;
    }
    for (uint32_t i = 0; i < op.output_count; ++i) {
      const Operand& result = step_.operands[op.first_output + i];
      if (result.block == kNone) continue;
      const StepBlock& block = step_.blocks[result.block];
      const bool older = block.begin < op.begin && (block.op == kNone || &step_.ops[block.op] != &op);
      if (older && op.node == kNone) tables_.Note(op, result.block);
      if (decided_[result.block] && sequence_ && !older) AddOuter(op, kind, result);
      if (decided_[result.block] && !sequence_ && !older && kind == Kind::kElementwise)
        if (const Strides compared = PlacesOfCompared(step_, axis_, op, result); compared[0] != 0)
          Set(result.block, compared);
      if (decided_[result.block]) continue;
      if (older && !sequence_) parts_.NoteWritten(op, result.block);
      if (older && step_.NameOf(op) != "aten::copy_") continue;  // another one decides
      if (older) {
        PassCopied(op, result);
        continue;
      }
      if (kind == Kind::kFactory) {
        if (const uint32_t base = LaidOutAs(step_, op, result); base != kNone) {
          SetOf(result, Of(base));
        } else if (const Strides whole = PlacesOfWhole(step_, axis_, op, result); whole[0] != 0) {
          SetOf(result, whole);
        } else {
          PassFactory(op, result);
          sized_[result.block] = axis_.stride[result.block] != 0;
        }
        tables_.Note(op, result.block);
        joined_.Note(op, result);
        continue;
      }
      decided_[result.block] = op.input_count != 0;
      joined_.NoteAround(result.block);
      if (!sequence_ && CopiesFromCpu(step_, op, result)) continue;  // what it made the copy in has told
      tables_.Note(op, result.block);
      Strides strides = PlacesOfWhole(step_, axis_, op, result);
      if (strides[0] == 0) strides[0] = parts_.Padded(op, result);
      if (strides[0] == 0) strides = StridesOf(AlignedIn(step_, op), kind, result);
      if (!sequence_ && strides[0] == 0 && step_.Rank(result.shape) == 0)
        strides = Of(SummedFrom(step_, op, result.block));
      const uint64_t of_parts = strides[0] == 0 ? parts_.Joined(op, result) : 0;
      if (of_parts != 0) strides = {of_parts, 0};
      // A result with a dimension that no operand has so: attention's sums of rows.
      const bool shows = kind == Kind::kElementwise || kind == Kind::kJoin || kind == Kind::kWindows;
      if (!sequence_ && strides[0] == 0 && shows)
        strides = {ExpandedAxis(step_, axis_, op, result, time_first_), 0};
      if (!sequence_ && strides[0] == 0 && shows) strides = {rows_.Expanded(op, result), 0};
      const auto expanded = [&](int64_t length) { return TakesExpanded(step_, op, length); };
      if (sequence_ && strides[0] == 0 && shows &&
          (Reached(op) || std::ranges::any_of(tokens_->Lengths(), expanded)))
        strides = BySize(result);
      if (sequence_ && strides[0] == 0 && shows) strides = {joined_.SpreadOverMoved(op, result), 0};
      if (sequence_ && strides[0] == 0 && shows) strides = {joined_.SpreadOverIndices(op, result), 0};
      SetOf(result, strides);
      if (strides[0] == 0) parts_.Note(op, result.block);
      sized_[result.block] = strides[0] != 0 && of_parts == 0 && !FromOther(op);
      joined_.Note(op, result);
      if (!sequence_ && step_.NameOf(op) == "aten::baddbmm") PassAdded(op, result);
    }
  }

  // What an inner operator decided about is seen with the other operands of the outer one, too: masked_fill()
  // clones keys that are the same for all queries, and fills them by a mask of queries and keys.
  void AddOuter(const Op& op, Kind kind, const Operand& result) {
    if (axis_.stride[result.block] == 0 || axis_.second[result.block] != 0) return;
    if (kind != Kind::kElementwise || !AreBroadcast(step_, op, result)) return;
    if (axis_.element[result.block] != BytesOf(result.dtype)) return;
    Strides strides = Of(result.block);
    for (const uint64_t stride : StridesOf(op, kind, result)) AddPlace(strides, stride);
    Set(result.block, strides);
  }

  // torch.zeros(batch * heads, rows, columns), which products are added to: as the sum has it.
  void PassAdded(const Op& op, const Operand& sum) {
    if (op.input_count == 0) return;
    const Operand& added = InputsOf(step_, op)[0];
    if (added.block == kNone || decided_[added.block] || axis_.stride[added.block] != 0) return;
    if (LieAlike(step_, added, sum)) SetOf(added, Of(sum.block));
  }

  // What a lever put in.
  void PassCopy(uint32_t i) {
    const StepBlock& copy = step_.blocks[i];
    if (copy.copy_of == kNone || copy.IsParametersGradient()) return;
    Set(i, Of(copy.copy_of));
    if (!sequence_) axis_.beside[i] = axis_.beside[copy.copy_of];
    if (!sequence_ && axis_.stride[i] == 0 && copy.expanded == axis_.batch) axis_.stride[i] = 1;
  }

  // made = x.new_zeros(2, batch, tokens); made[0].copy_(x)
  void PassCopied(const Op& op, const Operand& into) {
    if (const Strides strides = StridesOf(op, Kind::kElementwise, into); axis_.stride[into.block] == 0)
      SetOf(into, strides);
    joined_.Note(op, into);
  }

  // Until the operator around it says otherwise.
  void PassFactory(const Op& op, const Operand& result) {
    const uint32_t rank = step_.Rank(result.shape);
    const bool of_batch = rank > 1 && step_.Dims(result.shape)[0] == axis_.batch;
    if (sequence_ || (of_batch && rank == 2)) return SetOf(result, BySize(result));
    if (!of_batch) return SetOf(result, rows_.Made(op, result));
    SetOf(result, {static_cast<uint64_t>(step_.Dims(result.strides)[0]), 0});
  }

  // Of a sequence: its length is looked for, which no size of the model may be as well.
  [[nodiscard]] Strides BySize(const Operand& result) {
    Strides strides{};
    if (!by_size_ || !step_.shapes[result.strides].known) return strides;
    for (uint32_t d = 0; d < step_.Rank(result.shape); ++d) {
      const int64_t size = step_.Dims(result.shape)[d];
      const bool other = joined_.IsLength(size) || (sequence_ && tokens_->IsLength(size));
      if (size == axis_.batch || (other && !joined_.IsOfModel(size)))
        AddPlace(strides, static_cast<uint64_t>(step_.Dims(result.strides)[d]) * joined_.WithinOne(size));
      joined_.NoteSized(result.block, size);
    }
    return strides;
  }

  [[nodiscard]] Strides StridesOf(const Op& op, Kind kind, const Operand& result) const {
    Strides found{};
    if (!step_.shapes[result.strides].known || kind == Kind::kNever) return found;
    if (found = PlacesOfWhole(step_, axis_, op, result); found[0] != 0) return found;
    if (kind == Kind::kFirstResult && result.argument != 0)
      return PlacesOfStatistics(step_, axis_, op, result);
    if (kind == Kind::kRecurrent && result.argument == kReserve) return {Reached(op) ? uint64_t{1} : 0, 0};
    if (kind == Kind::kMatrix) return CarryThroughProduct(step_, axis_, op, result);
    if (const Operand* const like = ShapedLike(step_, op)) AddOf(*like, op, kind, result, found);
    if (found[0] != 0) return found;
    // zeros(8, 8) before 8 samples of 256 tokens: those tell which of its dimensions is the batch.
    for (const bool sized : {false, true}) {
      for (const Operand& operand : MostTellingFirst(step_, op, kind)) {
        if (operand.block != kNone && sized_[operand.block] != sized) continue;
        if (IsMaskOfAttention(step_, op, operand) && result.argument != kGradientOfMask) continue;
        if (sequence_ && IsOfOtherRows(step_, op, operand, result)) continue;
        AddOf(operand, op, kind, result, found);
        if (sequence_ || found[0] == 0) continue;
        if (kind == Kind::kElementwise) AddCompared(step_, axis_, op, result, operand, sized_, found);
        AddAcross(step_, axis_, op, result, sized_, found);
        return found;
      }
    }
    return found;
  }

  // Where the operand's places are in the result.
  void AddOf(const Operand& operand, const Op& op, Kind kind, const Operand& result, Strides& found) const {
    for (uint32_t d = 0; d < step_.Rank(operand.shape); ++d)
      if (IsCutToLength(operand, d) || (by_size_ && joined_.IsSpread(operand, d)))
        AddPlace(found, CarryAxis(step_, op, kind, operand, {d, 1}, result));
    for (const uint64_t stride : Of(operand.block)) {
      const auto place = stride == 0 ? std::nullopt : PlaceIn(step_, axis_, operand, stride);
      if (!place || joined_.AreOthers(operand, *place)) continue;
      AddPlace(found, CarryAxis(step_, op, kind, operand, *place, result));
      AddPlace(found, rows_.Share(op, operand, *place, result));
    }
  }

  // Gradients of parameters never grow; what an operator keeps to itself grows with what it works on, but for
  // a library's workspace and for the partial sums of reductions, whose size depends on how the device is
  // divided.
  void Settle(uint32_t i) {
    const StepBlock& block = step_.blocks[i];
    if (block.IsParametersGradient()) {
      Set(i, {});
      if (block.copy_of != kNone) Set(block.copy_of, {});  // what autocast converts to it
    }
    if (!sequence_ && MatricesInWorkspace(step_, i) != 0) axis_.stride[i] = 1;
    if (decided_[i] || !by_size_ || block.workspace || block.op == kNone || axis_.stride[i] != 0) return;
    const Op& op = step_.ops[OwnerOf(step_, i, seen_[i])];
    if (const uint32_t indices = SortedWith(step_, op, i); indices != kNone) {
      Set(i, Of(indices));
      axis_.beside[i] = axis_.beside[indices];
      return;
    }
    // Columns of one sample after the other (ATen/native/cuda/ConvolutionMM2d.cu,
    // NaiveDilatedConvolution.cu).
    const std::string_view name = step_.NameOf(op);
    if (!sequence_ && (name.starts_with("aten::_slow_conv") || name.starts_with("aten::slow_conv"))) return;
    const Kind kind = KindOf(op);
    if (kind == Kind::kMatrix || kind == Kind::kReduction || kind == Kind::kFactory || !Reached(op)) return;
    if (&op != &step_.ops[block.op] && (kind == Kind::kNever || kind == Kind::kFirstResult)) return;
    if (!sequence_ && IsGivenOneSample(step_, axis_, op)) return;
    const bool small = block.requested < static_cast<uint64_t>(axis_.batch) * 512;
    if (block.grows == Grows::kUnsaid ? small : block.grows == Grows::kNot) return;
    axis_.stride[i] = 1;
    ++axis_.internal;
  }

  const Step& step_;
  const Tokens* const tokens_;
  const std::span<const AskedAxis> asked_;
  const bool sequence_;
  const bool by_size_;
  const BatchAxis* const others_;
  BatchAxis axis_;
  std::vector<bool> decided_;
  std::vector<bool> seen_;   // by block: an operator that is no factory has it
  std::vector<bool> sized_;  // by block: a dimension of that size is all that tells of the axis in it
  NumberTables tables_;
  const std::set<std::pair<uint32_t, int64_t>> chunked_;
  const std::set<std::pair<uint32_t, int64_t>> uncut_;
  JoinedTokens joined_;
  SampleParts parts_;
  SampleRows rows_;
  std::unordered_map<uint32_t, Kind> kinds_;
  bool time_first_ = false;  // token ids are [tokens, batch]
};

}  // namespace

const Result<BatchAxis>& FollowBatch(const Step& step) {
  return step.batch_axis.Get([&] {
    return FollowAsked(step, false, [&](std::span<const AskedAxis> asked) {
      return Follower(step, nullptr, true, nullptr, asked).Follow();
    });
  });
}

Result<BatchAxis> FollowTokens(const Step& step, const Tokens& tokens, bool by_size, const BatchAxis* others,
                               std::span<const AskedAxis> asked) {
  return Follower(step, &tokens, by_size, others, asked).Follow();
}

}  // namespace vramscope::whatif
