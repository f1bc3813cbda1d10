// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/sample_rows.h"

#include "profiler/whatif/sizes/single_sample.h"

namespace vramscope::whatif {

using classify::Category;
using model::kNone;

namespace {

// The program made it on the CPU and then copied it.
bool IsOfCpu(const Step& step, const Operand& operand) {
  if (operand.block == kNone) return true;
  for (uint32_t i = step.blocks[operand.block].op; i != kNone; i = step.ops[i].parent) {
    const std::span<const Operand> given = InputsOf(step, step.ops[i]);
    if (step.NameOf(step.ops[i]) == "aten::_to_copy") return given.size() == 1 && given[0].block == kNone;
  }
  return false;
}

}  // namespace

SampleRows::SampleRows(const Step& step, const BatchAxis& axis) : step_(step), axis_(axis) {
  for (const Operand& operand : step.operands) {
    if (operand.block == kNone) continue;
    const Category category = step.blocks[operand.block].category;
    if (category != Category::kParameter && category != Category::kBuffer) continue;
    for (const int64_t size : SizesOf(step, operand)) sizes_of_model_.insert(size);
  }
}

void SampleRows::Note(const Op& op) {
  if (step_.NameOf(op) == "aten::index" && op.input_count != 0 && op.output_count != 0) {
    const Operand &from = InputsOf(step_, op)[0], &result = OutputsOf(step_, op)[0];
    const uint64_t inner = from.block == kNone ? 0 : ElementsOfSample(step_, axis_, from, 0);
    if (inner != 0 && Indexed(op, from, {0, inner}, result) != 0) {
      const int64_t rows = step_.Dims(result.shape)[0];
      of_sample_[rows] = static_cast<uint64_t>(rows / axis_.batch);
      indexed_.insert(rows);
    }
  }
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
  if (sizes.size() < 2 || !step_.shapes[result.strides].known) return {};
  // Points that are drawn for each of what was picked are no size of the model.
  const bool drawn = step_.NameOf(op) == "aten::rand" && indexed_.contains(sizes[0]);
  if (sizes_of_model_.contains(sizes[0]) && !drawn) return {};
  const bool square = sizes[0] == sizes[1], eye = step_.NameOf(op) == "aten::eye";
  if (square != eye) return {};
  const auto rows = of_sample_.find(sizes[0]);
  if (rows == of_sample_.end()) return {};
  const auto places = [&](int64_t stride) { return rows->second * static_cast<uint64_t>(stride); };
  return {places(strides[0]), eye ? places(strides[1]) : 0};
}

uint64_t SampleRows::Expanded(const Op& op, const Operand& result) const {
  const std::span<const int64_t> sizes = SizesOf(step_, result), strides = StridesOf(step_, result);
  if (sizes.empty() || !step_.shapes[result.strides].known) return 0;
  if (const uint64_t channels = OfInstanceNorm(op, result); channels != 0) return channels;
  if (sizes_of_model_.contains(sizes[0])) return 0;
  const auto rows = of_sample_.find(sizes[0]);
  if (rows == of_sample_.end()) return 0;
  return WritesOutExpanded(step_, op, result, 0) ? rows->second * static_cast<uint64_t>(strides[0]) : 0;
}

// instance_norm() in aten/src/ATen/native/Normalization.cpp: weights of the channels for each sample.
uint64_t SampleRows::OfInstanceNorm(const Op& op, const Operand& result) const {
  if (op.parent == kNone || step_.NameOf(op) != "aten::repeat" || op.input_count != 1) return 0;
  const Op& norm = step_.ops[op.parent];
  if (step_.NameOf(norm) != "aten::instance_norm" || norm.input_count == 0) return 0;
  const std::span<const int64_t> weights = SizesOf(step_, InputsOf(step_, op)[0]);
  const Operand& normed = InputsOf(step_, norm)[0];
  const bool first = normed.block != kNone && ElementsOfSample(step_, axis_, normed, 0) == 1;
  const bool repeated = weights.size() == 1 && SizesOf(step_, result)[0] == axis_.batch * weights[0];
  return first && repeated ? static_cast<uint64_t>(weights[0]) : 0;
}

uint64_t SampleRows::Share(const Op& op, const Operand& rows, AxisPlace place, const Operand& result) const {
  if (!step_.shapes[result.strides].known || step_.Rank(result.shape) == 0) return 0;
  const std::string_view name = step_.NameOf(op);
  if (name == "aten::index") return Indexed(op, rows, place, result);
  return name == "aten::topk" ? Picked(rows, place, result) : 0;
}

uint64_t SampleRows::Indexed(const Op& op, const Operand& rows, AxisPlace place,
                             const Operand& result) const {
  const std::span<const Operand> operands = InputsOf(step_, op);
  if (operands.size() < 3 || place.dimension != 0 || place.inner != 1 || step_.Rank(result.shape) == 0)
    return 0;
  const int64_t picked = step_.Dims(result.shape)[0];
  const bool numbers = std::ranges::all_of(operands.subspan(1), [&](const Operand& index) {
    return step_.Rank(index.shape) == 1 && step_.Dims(index.shape)[0] == picked && IsOfCpu(step_, index);
  });
  const bool goes = step_.Rank(rows.shape) == step_.Rank(result.shape) + operands.size() - 2;
  if (!numbers || !goes || picked <= axis_.batch || picked % axis_.batch != 0) return 0;
  return static_cast<uint64_t>(picked / axis_.batch * StridesOf(step_, result)[0]);
}

uint64_t SampleRows::Picked(const Operand& rows, AxisPlace place, const Operand& result) const {
  const std::span<const int64_t> sizes = SizesOf(step_, rows), picked = SizesOf(step_, result);
  const uint32_t d = place.dimension;
  if (picked.size() != sizes.size() || picked[d] >= sizes[d] || picked[d] % axis_.batch != 0) return 0;
  return static_cast<uint64_t>(picked[d] / axis_.batch * StridesOf(step_, result)[d]);
}

}  // namespace vramscope::whatif
