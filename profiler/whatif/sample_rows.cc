// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sample_rows.h"

namespace vramscope::whatif {

using classify::Category;
using model::kNone;

SampleRows::SampleRows(const Step& step, const BatchAxis& axis) : step_(step), axis_(axis) {
  for (const Operand& operand : step.operands) {
    if (operand.block == kNone) continue;
    const Category category = step.blocks[operand.block].category;
    if (category != Category::kParameter && category != Category::kBuffer) continue;
    for (const int64_t size : SizesOf(step, operand)) sizes_of_model_.insert(size);
  }
}

void SampleRows::Note(const Op& op) {
  for (const Operand& operand : InputsOf(step_, op)) {
    if (operand.block == kNone || step_.Rank(operand.shape) != 2 || axis_.stride[operand.block] == 0)
      continue;
    const uint64_t inner = ElementsOfSample(step_, axis_, operand, 0);
    const int64_t rows = step_.Dims(operand.shape)[0];
    if (inner != 0 && rows > axis_.batch && rows % axis_.batch == 0) of_sample_[rows] = inner;
  }
}

// A square one is rather a mask of tokens, which may be as many as those rows; but eye() compares rows with
// each other.
PlacesOfAxis SampleRows::Made(const Op& op, const Operand& result) const {
  const std::span<const int64_t> sizes = SizesOf(step_, result), strides = StridesOf(step_, result);
  if (sizes.size() < 2 || !step_.shapes[result.strides].known || sizes_of_model_.contains(sizes[0]))
    return {};
  const bool square = sizes[0] == sizes[1], eye = step_.NameOf(op) == "aten::eye";
  if (square != eye) return {};
  const auto rows = of_sample_.find(sizes[0]);
  if (rows == of_sample_.end()) return {};
  const auto places = [&](int64_t stride) { return rows->second * static_cast<uint64_t>(stride); };
  return {places(strides[0]), eye ? places(strides[1]) : 0};
}

uint64_t SampleRows::Expanded(const Op& op, const Operand& result) const {
  const std::span<const int64_t> sizes = SizesOf(step_, result), strides = StridesOf(step_, result);
  if (sizes.size() < 2 || !step_.shapes[result.strides].known || sizes_of_model_.contains(sizes[0])) return 0;
  const auto rows = of_sample_.find(sizes[0]);
  if (rows == of_sample_.end()) return 0;
  const std::span<const Operand> inputs = InputsOf(step_, op);
  const bool expanded = std::ranges::any_of(inputs, [&](const Operand& operand) {
    const std::span<const int64_t> from = SizesOf(step_, operand), apart = StridesOf(step_, operand);
    return from.size() == sizes.size() && apart.size() == from.size() && from[0] == sizes[0] && apart[0] == 0;
  });
  return expanded ? rows->second * static_cast<uint64_t>(strides[0]) : 0;
}

uint64_t SampleRows::Share(const Op& op, const Operand& rows, AxisPlace place, const Operand& result) const {
  if (!step_.shapes[result.strides].known || step_.Rank(result.shape) == 0) return 0;
  const std::string_view name = step_.NameOf(op);
  if (name == "aten::topk") return Picked(rows, place, result);
  return name == "aten::one_hot" ? Numbered(rows, place, result) : 0;
}

uint64_t SampleRows::Picked(const Operand& rows, AxisPlace place, const Operand& result) const {
  const std::span<const int64_t> sizes = SizesOf(step_, rows), picked = SizesOf(step_, result);
  const uint32_t d = place.dimension;
  if (picked.size() != sizes.size() || picked[d] >= sizes[d] || picked[d] % axis_.batch != 0) return 0;
  return static_cast<uint64_t>(picked[d] / axis_.batch * StridesOf(step_, result)[d]);
}

// Classes are a size of the model, and most often looked up for each sample or token, in dimensions of their
// own.
uint64_t SampleRows::Numbered(const Operand& rows, AxisPlace place, const Operand& result) const {
  if (step_.Dims(rows.shape)[place.dimension] <= axis_.batch) return 0;
  const int64_t room = SizesOf(step_, result).back();
  const bool share = room > axis_.batch && room % axis_.batch == 0 && !sizes_of_model_.contains(room);
  return share ? static_cast<uint64_t>(room / axis_.batch * StridesOf(step_, result).back()) : 0;
}

}  // namespace vramscope::whatif
