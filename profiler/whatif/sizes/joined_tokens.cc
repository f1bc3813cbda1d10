// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/joined_tokens.h"

#include <algorithm>
#include <cstdlib>

#include "profiler/whatif/sizes/batch_kinds.h"
#include "profiler/whatif/sizes/single_sample.h"

namespace vramscope::whatif {

using model::kNone;

// [samples, 40 x 3, features]: of each token a return, a state and an action. What has no features beside
// them has tokens among its features instead.
void JoinedTokens::NoteGiven(const Op& op) {
  if (op.node != kNone) return;
  for (const Operand& operand : InputsOf(step_, op)) {
    if (operand.block == kNone || axis_.stride[operand.block] == 0 || axis_.beside[operand.block] != 0)
      continue;
    for (uint32_t d = 0; d + 1 < step_.Rank(operand.shape); ++d) {
      const auto within = static_cast<int64_t>(ElementsOfSample(step_, axis_, operand, d));
      const int64_t more = SizesOf(step_, operand)[d] - axis_.batch;
      if (within == 1 && more != 0 && std::abs(more) <= kMoved) moved_.insert(axis_.batch + more);
      if (within > 1 && SizesOf(step_, operand)[d] == within * axis_.batch)
        interleaved_.insert(within * axis_.batch);
    }
  }
}

void JoinedTokens::Note(const Op& op, const Operand& result) {
  const std::string_view name = step_.NameOf(op);
  const bool joins = name == "aten::cat", of_batch = tokens_ == nullptr;
  if (of_batch && !joins && known_.empty()) return;
  if (axis_.stride[result.block] == 0) return NoteOthers(op, result);
  int64_t& beside = axis_.beside[result.block];
  const bool slides = !of_batch && name.find("conv") != std::string_view::npos;
  const int64_t more = joins ? JoinedBy(op, result) : slides ? LeftBy(op, result) : 0;
  if (more != 0) {
    known_.insert(beside = more);
    return;
  }
  for (const Operand& operand : InputsOf(step_, op)) {
    const int64_t tokens = operand.block == kNone ? 0 : axis_.beside[operand.block];
    if (tokens != 0 && HoldsRunsOf(operand, tokens) && HoldsRunsOf(result, tokens)) {
      beside = tokens;
      return;
    }
    const int64_t moved = tokens != 0 && AboutAsMany(operand, tokens) != 0 ? AboutAsMany(result, tokens) : 0;
    if (moved != 0) {
      beside = moved - axis_.batch;
      return;
    }
  }
  // Of backward of a slice the operand is shorter, and zeros(tokens, joined) has none.
  for (uint32_t d = 0; d < step_.Rank(result.shape); ++d) {
    const int64_t size = step_.Dims(result.shape)[d];
    const uint64_t second = axis_.StrideIn(result, axis_.second[result.block]);
    if (known_.contains(size - axis_.batch) &&
        (ElementsOfSample(step_, axis_, result, d) == 1 || ElementsWithin(step_, second, result, d) == 1))
      beside = size - axis_.batch;
  }
}

// Vectors that are learned, of which none is left out or repeated: a sequence of another length has as many.
bool JoinedTokens::AreLearned(const Operand& operand) const {
  if (operand.block == kNone || !step_.shapes[operand.strides].known) return false;
  for (uint32_t d = 1; d < step_.Rank(operand.shape); ++d)
    if (SizesOf(step_, operand)[d] > 1 && StridesOf(step_, operand)[d] == 0) return false;
  const StepBlock& block = step_.blocks[operand.block];
  const bool made = block.category == classify::Category::kParameter || learned_.contains(operand.block);
  return made && operand.offset == 0 && BytesUpTo(step_, operand) == block.requested;
}

// How many: a mask of the joined ones may be joined before they are.
void JoinedTokens::FindLearned() {
  for (const Op& op : step_.ops) {
    if (op.node != kNone || op.output_count == 0 || step_.NameOf(op) != "aten::cat") continue;
    const std::span<const int64_t> made = SizesOf(step_, OutputsOf(step_, op)[0]);
    for (const Operand& operand : InputsOf(step_, op)) {
      const std::span<const int64_t> sizes = SizesOf(step_, operand);
      if (sizes.size() != made.size() || !AreLearned(operand)) continue;
      for (uint32_t d = 1; d < sizes.size(); ++d)
        if (made[d] == sizes[d] + tokens_->length) counts_of_learned_.insert(sizes[d]);
    }
  }
}

// What is made of joined[:, :8] has as many of them, until it is joined again.
void JoinedTokens::NoteOthers(const Op& op, const Operand& result) {
  const std::span<const int64_t> sizes = SizesOf(step_, result);
  bool learned = op.node == kNone, alike = false;
  for (const Operand& operand : InputsOf(step_, op)) {
    const int64_t others = OthersIn(operand);
    if (others != 0 && std::ranges::find(sizes, others) != sizes.end()) apart_[result.block] = others;
    if (operand.block == kNone) continue;
    learned = learned && AreLearned(operand);
    alike |= std::ranges::equal(sizes, SizesOf(step_, operand));
  }
  if (learned && alike) learned_.insert(result.block);
}

// How many others the operand has, of which it is known that they are no part of the sequence; 0: none.
int64_t JoinedTokens::OthersIn(const Operand& operand) const {
  if (operand.block == kNone) return 0;
  if (const auto apart = apart_.find(operand.block); apart != apart_.end()) return apart->second;
  const auto place = PlaceIn(step_, axis_, operand, axis_.stride[operand.block]);
  return place && AreOthers(operand, *place) ? axis_.beside[operand.block] : 0;
}

// Dimension `d` has nothing to do with how long the sequence is: it has those others, learned ones, or what a
// factory made for as many.
bool JoinedTokens::IsCounted(const Operand& operand, uint32_t d) const {
  if (operand.block == kNone || d >= step_.Rank(operand.shape)) return false;
  const int64_t size = SizesOf(step_, operand)[d];
  if (OthersIn(operand) == size) return true;
  if (AreLearned(operand)) return size == 1 || StridesOf(step_, operand)[d] != 0;
  const uint32_t op = step_.blocks[operand.block].op;
  return op != kNone && counts_of_learned_.contains(size) &&
         KindNamed(step_.NameOf(step_.ops[op])) == Kind::kFactory;
}

// t.new_zeros(1), or what the model has.
bool JoinedTokens::IsMadeApart(const Operand& operand) const {
  if (operand.block == kNone || axis_.stride[operand.block] != 0) return false;
  const StepBlock& block = step_.blocks[operand.block];
  if (block.begin == kBefore || block.op == kNone) return block.begin == kBefore;
  uint32_t op = block.op;
  while (step_.ops[op].parent != kNone && KindNamed(step_.NameOf(step_.ops[op])) == Kind::kFactory)
    op = step_.ops[op].parent;
  return KindNamed(step_.NameOf(step_.ops[op])) == Kind::kFactory;
}

bool JoinedTokens::AreOthers(const Operand& operand, AxisPlace place) const {
  const int64_t beside = axis_.beside[operand.block];
  return beside != 0 && place.inner == 1 && step_.Dims(operand.shape)[place.dimension] == beside;
}

std::string JoinedTokens::WhyNotTold() const {
  const std::string tokens = std::to_string(axis_.batch);
  if (!of_model_.empty())
    return "a new tensor of the recorded step has a dimension of " + tokens +
           ", which is the length of the sequence and a size of the model too: record with another length.";
  if (as_many_)
    return "the recorded step joins the " + tokens +
           " tokens of a sample with as many vectors that are none, and one length does not tell them "
           "apart: record with another length.";
  return "";
}

bool JoinedTokens::IsLength(int64_t size) const {
  return known_.contains(size - axis_.batch) || interleaved_.contains(size);
}

bool JoinedTokens::IsOfModel(int64_t size) const {
  return tokens_ != nullptr && tokens_->sizes_of_model.contains(size);
}

bool JoinedTokens::IsSpread(const Operand& operand, uint32_t d) const {
  if (tokens_ == nullptr || operand.block == kNone || axis_.stride[operand.block] == 0) return false;
  const std::span<const int64_t> sizes = SizesOf(step_, operand);
  if (!step_.shapes[operand.strides].known || StridesOf(step_, operand)[d] != 0) return false;
  if (!IsLength(sizes[d]) || IsOfModel(sizes[d])) return false;
  for (uint32_t own = 0; own < sizes.size(); ++own)
    if (sizes[own] == sizes[d] && ElementsOfSample(step_, axis_, operand, own) == 1) return true;
  return false;
}

uint64_t JoinedTokens::SpreadOverMoved(const Op& op, const Operand& result) const {
  const std::span<const int64_t> sizes = SizesOf(step_, result);
  if (!step_.shapes[result.strides].known) return 0;
  for (uint32_t d = 0; d < sizes.size(); ++d)
    if (moved_.contains(sizes[d]) && !IsOfModel(sizes[d]) && WritesOutExpanded(step_, op, result, d))
      return static_cast<uint64_t>(StridesOf(step_, result)[d]);
  return 0;
}

uint64_t JoinedTokens::SpreadOverIndices(const Op& op, const Operand& result) const {
  uint32_t index = op.parent;
  while (index != kNone && step_.NameOf(step_.ops[index]) != "aten::index") index = step_.ops[index].parent;
  if (index == kNone || !step_.shapes[result.strides].known) return 0;
  const std::span<const int64_t> made = SizesOf(step_, result);
  for (const Operand& other : InputsOf(step_, step_.ops[index])) {
    if (other.block == kNone || axis_.stride[other.block] == 0 || other.element == 0) continue;
    const std::span<const int64_t> sizes = SizesOf(step_, other);
    for (size_t behind = 1; behind <= std::min(sizes.size(), made.size()); ++behind) {
      const auto d = static_cast<uint32_t>(made.size() - behind);
      const auto own = static_cast<uint32_t>(sizes.size() - behind);
      if (made[d] == sizes[own] && ElementsOfSample(step_, axis_, other, own) == 1 &&
          WritesOutExpanded(step_, op, result, d))
        return static_cast<uint64_t>(StridesOf(step_, result)[d]);
    }
  }
  return 0;
}

uint64_t JoinedTokens::WithinOne(int64_t size) const {
  return interleaved_.contains(size) ? static_cast<uint64_t>(size / axis_.batch) : 1;
}

// Tokens beside those of the sequence; 0: none, or it cannot be told. As many more as there are in the
// sequence may be a second one, unless they are known to be others.
int64_t JoinedTokens::JoinedBy(const Op& op, const Operand& result) {
  const std::span<const Operand> inputs = InputsOf(step_, op);
  for (uint32_t d = 0; d < step_.Rank(result.shape); ++d) {
    if (ElementsOfSample(step_, axis_, result, d) != 1) continue;
    const auto holds = [&](const Operand& operand) {
      return d < step_.Rank(operand.shape) && ElementsOfSample(step_, axis_, operand, d) != 0;
    };
    const auto whole = std::find_if(inputs.begin(), inputs.end(), holds);
    const auto another = [&](const Operand& operand) {
      return holds(operand) && operand.block != whole->block;
    };
    if (whole == inputs.end() || std::any_of(whole, inputs.end(), another)) continue;
    const int64_t beside = step_.Dims(result.shape)[d] - axis_.batch;
    const int64_t own = TokensIn(inputs, whole->block, d) - axis_.batch;
    const bool complete = own == 0 || own == axis_.beside[whole->block];
    const bool known = std::ranges::any_of(inputs, [&](const Operand& operand) {
      return others_ != nullptr && operand.block != kNone && others_->stride[operand.block] != 0;
    });
    const bool counted = std::ranges::all_of(
        inputs, [&](const Operand& operand) { return holds(operand) || IsCounted(operand, d); });
    if (!complete || beside <= own) continue;
    if (tokens_ == nullptr) {
      const bool apart = std::ranges::all_of(
          inputs, [&](const Operand& operand) { return holds(operand) || IsMadeApart(operand); });
      return apart && beside % axis_.batch != 0 ? beside : 0;
    }
    as_many_ |= counted && !known && beside == axis_.batch;
    if (known || counted || beside % axis_.batch != 0) return beside;
  }
  return 0;
}

// In dimension `d` of what is seen of a block: x[:, :1] and x[:, 1:], between which others may stand, are all
// of x. 0: they do not follow one another in there, as when x is joined with itself.
int64_t JoinedTokens::TokensIn(std::span<const Operand> parts, uint32_t block, uint32_t d) const {
  int64_t tokens = 0;
  uint64_t next = 0;
  for (const Operand& part : parts) {
    if (part.block != block) continue;
    if (d >= step_.Rank(part.shape) || !step_.shapes[part.strides].known) return 0;
    if (tokens != 0 && part.offset != next) return 0;
    const int64_t count = SizesOf(step_, part)[d];
    tokens += count;
    next = part.offset + static_cast<uint64_t>(count * StridesOf(step_, part)[d]);
  }
  return tokens;
}

// Where one step of it is one token: of others the result is shorter.
int64_t JoinedTokens::LeftBy(const Op& convolution, const Operand& result) const {
  if (convolution.input_count < 2) return 0;
  const Operand &from = InputsOf(step_, convolution)[0], &weight = InputsOf(step_, convolution)[1];
  if (from.block == kNone || step_.Rank(from.shape) != step_.Rank(result.shape) ||
      step_.Rank(weight.shape) != step_.Rank(result.shape))
    return 0;
  for (uint32_t d = 2; d < step_.Rank(result.shape); ++d) {
    if (ElementsOfSample(step_, axis_, result, d) != 1 || ElementsOfSample(step_, axis_, from, d) == 0)
      continue;
    const int64_t own = step_.Dims(from.shape)[d] - axis_.batch;
    const int64_t beside = step_.Dims(result.shape)[d] - axis_.batch;
    const bool complete = own == 0 || own == axis_.beside[from.block];
    if (complete && beside > own && beside - own < step_.Dims(weight.shape)[d]) return beside;
  }
  return 0;
}

// logits[:, :-1], and labels with room for one more, which stand for what comes next: how many they are. 0:
// they are others.
int64_t JoinedTokens::AboutAsMany(const Operand& operand, int64_t tokens) const {
  for (uint32_t d = 0; d < step_.Rank(operand.shape); ++d) {
    const int64_t count = SizesOf(step_, operand)[d];
    if (ElementsOfSample(step_, axis_, operand, d) == 1 && std::abs(count - axis_.batch - tokens) <= kMoved)
      return count;
  }
  return 0;
}

// One behind the other.
bool JoinedTokens::HoldsRunsOf(const Operand& operand, int64_t tokens) const {
  for (uint32_t d = 0; d < step_.Rank(operand.shape); ++d) {
    for (const uint64_t stride : {axis_.stride[operand.block], axis_.second[operand.block]}) {
      const uint64_t inner = ElementsWithin(step_, axis_.StrideIn(operand, stride), operand, d);
      if (inner != 0 &&
          step_.Dims(operand.shape)[d] / static_cast<int64_t>(inner) % (axis_.batch + tokens) == 0)
        return true;
    }
  }
  return false;
}

}  // namespace vramscope::whatif
